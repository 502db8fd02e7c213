"""What is left over of another way to hold quotas: Volcano's plugins `capacity`, `proportion` and
`capacity-card`.

In: the cluster, as far as the user may read it. Out: the section `leftover` of `check`.
"""
