<?php
// An independent gateway, by the document alone: php -S 127.0.0.1:<port> test/outside/gateway.php
// API_KEY, SIGN_KEY, ENCODING (hex or base64) and STORE (a folder) come from the environment.
function answer(int $status, array $body): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body);
    exit;
}

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (($_SERVER['HTTP_AUTHORIZATION'] ?? '') !== 'Bearer ' . getenv('API_KEY')) {
    answer(401, ['message' => 'Unauthorized']);
}

if ($_SERVER['REQUEST_METHOD'] === 'POST' && $path === '/api/v1/payments') {
    $body = file_get_contents('php://input');
    $digest = hash_hmac('sha256', $body, getenv('SIGN_KEY'), true);
    $expected = getenv('ENCODING') === 'base64' ? base64_encode($digest) : bin2hex($digest);
    if (!hash_equals($expected, $_SERVER['HTTP_SIGNATURE'] ?? '')) {
        answer(401, ['message' => 'Bad signature']);
    }
    $request = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
    $hex = bin2hex(random_bytes(16));
    $id = vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split($hex, 4));
    $record = [
        'id' => $id,
        'paymentStatus' => 'PENDING',
        'created' => new DateTime('now', new DateTimeZone('Europe/Warsaw')),
        'paymentType' => $request['paymentType'],
        'description' => $request['description'] ?? null,
        'paymentMethod' => $request['paymentMethod'],
        'reference' => $request['reference'] ?? null,
        'amount' => (float) $request['amount'],
        'currency' => $request['currency'],
        'customer' => $request['customer'] ?? null,
        'billingAddress' => $request['billingAddress'] ?? [],
    ];
    file_put_contents(getenv('STORE') . "/$id.json", json_encode($record));
    file_put_contents(getenv('STORE') . '/last-body', $body);
    $redirect = $request['paymentType'] === 'DEPOSIT' ? ['redirectUrl' => "https://pay.example/p/$id"] : [];
    answer(201, ['result' => $record + $redirect]);
}

if ($_SERVER['REQUEST_METHOD'] === 'GET' && preg_match('#^/api/v1/payments/([0-9a-f-]{36})$#', $path, $found)) {
    if (isset($_SERVER['HTTP_SIGNATURE'])) {
        answer(400, ['message' => 'A lookup is not signed']);
    }
    $file = getenv('STORE') . "/$found[1].json";
    is_file($file) ? answer(200, ['result' => json_decode(file_get_contents($file), true)]) : answer(404, []);
}

answer(404, []);
