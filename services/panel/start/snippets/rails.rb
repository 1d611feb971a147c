config.action_mailer.delivery_method = :smtp
config.action_mailer.smtp_settings = {
  address: {{host}},
  port: {{port:raw}},
  user_name: {{user}},
  password: {{password}},
  authentication: :plain,
  enable_starttls: true,
}
config.action_mailer.default_options = { from: {{from}} }
