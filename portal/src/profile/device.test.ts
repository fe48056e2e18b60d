import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceOf } from './device.ts'

describe('the device of a session', () => {
  const cases: readonly [agent: string, name: string, kind: string][] = [
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36',
      'Chrome 131 on Linux',
      'computer',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0',
      'Edge 131 on Windows',
      'computer',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari 18 on iPhone',
      'phone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox 140 on macOS',
      'computer',
    ],
    ['curl/8.5.0', 'curl 8', 'program'],
    ['terraform-provider/1.2', 'terraform-provider', 'program'],
    ['', 'Unknown browser', 'program'],
  ]
  for (const [agent, name, kind] of cases)
    it(`names ${name}`, () => assert.deepEqual(deviceOf(agent), { name, kind }))
})
