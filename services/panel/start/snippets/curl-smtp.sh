printf 'From: %s\r\nTo: %s\r\nSubject: Hello from Postwright\r\n\r\nIt works.\r\n' {{from}} {{to}} |
  curl {{smtpUrl}} --ssl-reqd --user {{login}} \
    --mail-from {{from}} --mail-rcpt {{to}} --upload-file -
