printf 'From: %s\nTo: %s\nSubject: Hello from Postwright\n\nIt works.\n' {{from}} {{to}} | msmtp {{to}}
