swaks --server {{server}} --tls \
  --auth-user {{user}} --auth-password {{password}} \
  --from {{from}} --to {{to}} \
  --header 'Subject: Hello from Postwright' --body 'It works.'
