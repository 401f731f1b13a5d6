"""The pack of public e-invoices: readers, booking, and the program."""
