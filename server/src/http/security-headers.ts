// Security headers of every response: no sniffing, framing, embedding or referrers. Each page of the server relaxes the
// content security policy for itself only. There are no CORS headers.

/** `https`: users connect with TLS, so browsers are instructed to use only TLS (HSTS). */
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

/** Browser features that no page uses. */
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
