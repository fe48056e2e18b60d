// What every answer says to browsers, whatever it is: that nothing is guessed, framed, embedded or sent on. A page of ours
// loosens the content policy for itself and nothing else. That other sites may read an answer is said nowhere: no CORS.

/** `https`: users reach the server by it, so browsers are told never to try anything else. */
export function securityHeaders({ https }: { readonly https: boolean }): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': deviceFeatures.map((feature) => `${feature}=()`).join(', '),
    ...(https ? { 'strict-transport-security': `max-age=${twoYears}; includeSubDomains` } : {}),
  }
}

const twoYears = 63_072_000

/** What no page of ours asks a browser for. */
const deviceFeatures = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
]
