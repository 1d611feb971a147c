curl {{sendUrl}} \
  -H {{authorization}} \
  -H 'Content-Type: application/json' \
  -d '{
    "from": {{from:json}},
    "to": {{to:json}},
    "subject": "Hello from Postwright",
    "text": "It works."
  }'
