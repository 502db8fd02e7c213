"""The event loop that all work shares (I5).

In: an asyncio loop over a `TimedSelector`. Out: `LoopWatch`, the longest stretch; `TimeSlice` and
`in_slices`, by which long work gives way.
"""
