"""What runs beside a benchmark: servers, clients, and the processes that are measured."""
