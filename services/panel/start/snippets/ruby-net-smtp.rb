require 'net/smtp'

message = <<~MESSAGE.gsub("\n", "\r\n")
  From: #{{{from}}}
  To: #{{{to}}}
  Subject: Hello from Postwright

  It works.
MESSAGE

smtp = Net::SMTP.new({{host}}, {{port:raw}})
smtp.enable_starttls
smtp.start('localhost', {{user}}, {{password}}, :plain) do |session|
  session.send_message(message, {{from}}, {{to}})
end
