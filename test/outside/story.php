<?php
// A merchant's test in PHP: a whole story, driven over the sandbox's own API.
// It is also the merchant's server: `php -S 127.0.0.1:<port> story.php` takes callbacks, and looks each payment up.
declare(strict_types=1);

function call(string $method, string $url, ?array $body = null, array $headers = []): array
{
    $http = ['method' => $method, 'ignore_errors' => true, 'timeout' => 30];
    $http['header'] = [...$headers, 'Content-Type: application/json'];
    if ($body !== null) {
        $http['content'] = json_encode((object) $body, JSON_THROW_ON_ERROR);
    }
    $text = file_get_contents($url, false, stream_context_create(['http' => $http]));
    preg_match('/ (\d{3}) /', $http_response_header[0], $status);
    return [(int) $status[1], $text === '' ? null : (json_decode($text, true) ?? $text)];
}

function bearer(): string
{
    return 'Authorization: Bearer sandbox-api-key';
}

$gateway = getenv('GATEWAY_URL');

if (PHP_SAPI === 'cli-server') {
    $claim = json_decode(file_get_contents('php://input'), true);
    [$status, $answer] = call('GET', "$gateway/api/v1/payments/" . rawurlencode($claim['id'] ?? ''), null, [bearer()]);
    $isSo = $status === 200 && $answer['result']['paymentStatus'] === $claim['paymentStatus'];
    http_response_code($isSo ? 204 : 503);
    return true;
}

function check(bool $isSo, string $what): void
{
    if (!$isSo) {
        fwrite(STDERR, "not so: $what\n");
        exit(1);
    }
    echo "so: $what\n";
}

$sandbox = "$gateway/_sandbox";
$shop = getenv('SHOP_URL');

call('POST', "$sandbox/reset");
$order = ['paymentType' => 'DEPOSIT', 'paymentMethod' => 'CARD', 'amount' => 25.5, 'currency' => 'EUR',
    'reference' => 'order/1 "é"', 'webhookUrl' => "$shop/callbacks"];
$json = json_encode($order, JSON_THROW_ON_ERROR);
[$status, $created] = call('POST', "$gateway/api/v1/payments", $order,
    [bearer(), 'Signature: ' . hash_hmac('sha256', $json, 'sandbox-sign-key')]);
check($status === 201, 'a create that PHP signed is taken');
$id = $created['result']['id'];

[, $armed] = call('POST', "$sandbox/faults", ['fault' => 'callback-duplicate', 'reference' => $order['reference']]);
check($armed['id'] === 1, 'a fault is armed for its reference');
[$status] = call('POST', "$sandbox/payments/$id/moves", ['move' => 'complete']);
check($status === 200, 'it is completed');
[, $paid] = call('GET', "$sandbox/wait?isAnswered=true&paymentStatus=COMPLETED&reference=" . rawurlencode($order['reference']));
check($paid['id'] === $id, 'its callback is answered');
call('GET', "$sandbox/idle");
[, $list] = call('GET', "$sandbox/deliveries?paymentId=$id");
check(array_column($list['deliveries'], 'status') === [204, 204], 'both callbacks are taken');
[$status, $refused] = call('POST', "$sandbox/payments/$id/moves", ['move' => 'cancel']);
check([$status, $refused['code']] === [409, 'final_state'], 'it is final');

[, $library] = call('GET', "$sandbox/scenarios");
check(count($library['scenarios']) > 11, 'there are a dozen scenarios');
foreach (['callback-forged', 'callback-delayed', 'lookup-fails'] as $name) {
    [$status, $played] = call('POST', "$sandbox/scenarios/$name", ['to' => "$shop/callbacks"]);
    check($status === 200 && $played['problems'] === [], "$name has nothing to say against this server");
}
$story = "create: { paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 120, currency: EUR }\n"
    . "steps:\n  - move: fail\n    reason: Account closed\n    expect: { callbacks: [refused] }\n";
[, $played] = call('POST', "$sandbox/scenarios", ['scenario' => $story, 'to' => "$shop/callbacks"]);
check(count($played['problems']) === 1, 'a scenario of its own says what it did not expect');
[$status, $problem] = call('POST', "$sandbox/scenarios", ['scenario' => "create: {}\n"]);
check($status === 422 && str_contains($problem['message'], 'line 1: create.amount'), 'a mistake is named by its line');
