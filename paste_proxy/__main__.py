"""`python -m paste_proxy` is `paste-proxy`."""

from paste_proxy.cli.main import run

if __name__ == "__main__":
    run()
