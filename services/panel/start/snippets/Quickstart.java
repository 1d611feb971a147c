import jakarta.mail.Authenticator;
import jakarta.mail.Message;
import jakarta.mail.PasswordAuthentication;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.util.Properties;

public class Quickstart {
  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.put("mail.smtp.host", {{host}});
    settings.put("mail.smtp.port", "{{port:raw}}");
    settings.put("mail.smtp.auth", "true");
    settings.put("mail.smtp.starttls.required", "true");
    settings.put("mail.smtp.ssl.checkserveridentity", "true");
    Session session = Session.getInstance(settings, new Authenticator() {
      @Override
      protected PasswordAuthentication getPasswordAuthentication() {
        return new PasswordAuthentication({{user}}, {{password}});
      }
    });

    MimeMessage message = new MimeMessage(session);
    message.setFrom(new InternetAddress({{from}}));
    message.setRecipient(Message.RecipientType.TO, new InternetAddress({{to}}));
    message.setSubject("Hello from Postwright");
    message.setText("It works.");
    Transport.send(message);
  }
}
