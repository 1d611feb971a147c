using MailKit.Net.Smtp;
using MailKit.Security;
using MimeKit;

var message = new MimeMessage();
message.From.Add(MailboxAddress.Parse({{from}}));
message.To.Add(MailboxAddress.Parse({{to}}));
message.Subject = "Hello from Postwright";
message.Body = new TextPart("plain") { Text = "It works." };

using var client = new SmtpClient();
await client.ConnectAsync({{host}}, {{port:raw}}, SecureSocketOptions.StartTls);
await client.AuthenticateAsync({{user}}, {{password}});
await client.SendAsync(message);
await client.DisconnectAsync(true);
