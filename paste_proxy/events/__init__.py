"""What happened in a session, as plain typed facts.

Every other room speaks in these: recorder and importers produce them, mining reads them, speculation
decides on them. Pure: nothing here does I/O, and nothing here knows another room.
"""
