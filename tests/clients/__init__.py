"""Real agent clients from npm, run headless and offline."""

import pytest

pytest.register_assert_rewrite("tests.clients.pair")
