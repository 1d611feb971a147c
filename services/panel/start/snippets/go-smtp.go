package main

import (
	"log"
	"net/smtp"
	"strings"
)

func main() {
	message := strings.Join([]string{
		"From: " + {{from}},
		"To: " + {{to}},
		"Subject: Hello from Postwright",
		"",
		"It works.",
		"",
	}, "\r\n")
	// STARTTLS is used because the server offers it, and PlainAuth sends no password without it.
	auth := smtp.PlainAuth("", {{user}}, {{password}}, {{host}})
	if err := smtp.SendMail({{server}}, auth, {{from}}, []string{{{to}}}, []byte(message)); err != nil {
		log.Fatal(err)
	}
}
