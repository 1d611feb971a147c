<?php
/* Plugin Name: Mail through Postwright */

add_action('phpmailer_init', function ($mail) {
    $mail->isSMTP();
    $mail->Host = {{host}};
    $mail->Port = {{port:raw}};
    $mail->SMTPSecure = 'tls';
    $mail->SMTPAuth = true;
    $mail->Username = {{user}};
    $mail->Password = {{password}};
});

add_filter('wp_mail_from', function () {
    return {{from}};
});
