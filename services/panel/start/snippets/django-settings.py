EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST = {{host}}
EMAIL_PORT = {{port:raw}}
EMAIL_USE_TLS = True
EMAIL_HOST_USER = {{user}}
EMAIL_HOST_PASSWORD = {{password}}
DEFAULT_FROM_EMAIL = {{from}}
SERVER_EMAIL = {{from}}
