<?php
require 'vendor/autoload.php';

use PHPMailer\PHPMailer\PHPMailer;

$mail = new PHPMailer(true);
$mail->isSMTP();
$mail->Host = {{host}};
$mail->Port = {{port:raw}};
$mail->SMTPSecure = PHPMailer::ENCRYPTION_STARTTLS;
$mail->SMTPAuth = true;
$mail->Username = {{user}};
$mail->Password = {{password}};
$mail->CharSet = PHPMailer::CHARSET_UTF8;

$mail->setFrom({{from}});
$mail->addAddress({{to}});
$mail->Subject = 'Hello from Postwright';
$mail->Body = 'It works.';
$mail->send();
