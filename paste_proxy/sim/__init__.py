"""The same cores in virtual time, with models of engines, tools and arrivals: what each way of serving agents gives."""
