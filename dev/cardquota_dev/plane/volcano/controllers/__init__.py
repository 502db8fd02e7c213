"""The stand-in for volcano-controllers: jobs, pod groups, queues and commands.

In: an `AccountClient`. Out: `Controllers`, which work until they are cancelled.
"""
