"""What running ahead may cost: calls, money, bytes, CPU time, waste, and what services take at all.

Only calls run ahead are counted against a budget and refused by one. The agent's own are never refused or delayed;
they count where a service has a rate for all.
"""
