"""Settings for every test."""

from hypothesis import settings

# No deadline: two cores shared with servers and browsers make single examples slow now and then.
settings.register_profile("project", deadline=None, max_examples=60)
settings.load_profile("project")
