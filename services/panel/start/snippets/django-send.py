from django.core.mail import send_mail

send_mail("Hello from Postwright", "It works.", None, [{{to}}])
