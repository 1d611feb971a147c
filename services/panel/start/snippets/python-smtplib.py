import smtplib
import ssl
from email.message import EmailMessage

message = EmailMessage()
message["From"] = {{from}}
message["To"] = {{to}}
message["Subject"] = "Hello from Postwright"
message.set_content("It works.")

with smtplib.SMTP({{host}}, {{port:raw}}) as smtp:
    smtp.starttls(context=ssl.create_default_context())
    smtp.login({{user}}, {{password}})
    smtp.send_message(message)
