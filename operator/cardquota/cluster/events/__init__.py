"""Events on objects, for people: one for each change of the reason, written in the background.

In: an object, a reason, a sentence. Out: `EventRecorder`, which never blocks and is bounded.
"""
