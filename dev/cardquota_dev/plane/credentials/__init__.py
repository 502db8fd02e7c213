"""Who may talk to the plane: keys and certificates, and the users with their kubeconfigs.

In: the plane's folder. Out: `Keys`, and an `Identity` for each user.
"""
