"""The one owner of session and speculation state, and everything that runs only inside its task."""
