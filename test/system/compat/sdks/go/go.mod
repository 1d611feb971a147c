module postwright.example/resend-sdk

go 1.24

require github.com/resend/resend-go/v3 v3.1.1
