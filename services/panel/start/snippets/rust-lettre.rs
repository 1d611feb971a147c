use lettre::transport::smtp::authentication::Credentials;
use lettre::{Message, SmtpTransport, Transport};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let message = Message::builder()
        .from({{from}}.parse()?)
        .to({{to}}.parse()?)
        .subject("Hello from Postwright")
        .body(String::from("It works."))?;

    let login = Credentials::new({{user}}.into(), {{password}}.into());
    let transport = SmtpTransport::starttls_relay({{host}})?
        .port({{port:raw}})
        .credentials(login)
        .build();
    transport.send(&message)?;
    Ok(())
}
