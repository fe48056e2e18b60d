// To which addresses and ports a URL that a customer has chosen may lead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePrefix } from '../../net/prefix.ts'
import { parsePorts } from '../../net/port-list.ts'
import { NotAllowed, NotPublic, requireAllowed } from './connect.ts'

const inside = parsePrefix('10.0.0.0/8')
const publicPorts = parsePorts(['443', '8443'])

/** Returns the objection to a connection with TLS. */
function objection(address: string, port: number, isSecure = true, allowed = [inside]): unknown {
  try {
    requireAllowed(address, { port, isSecure }, { allowed, publicPorts })
    return undefined
  } catch (error) {
    return error
  }
}

test('public addresses are reached with TLS, at the allowed ports', () => {
  for (const address of ['9.9.9.9', '2620:fe::fe']) {
    assert.equal(objection(address, 443), undefined)
    assert.equal(objection(address, 8443), undefined)
    for (const port of [22, 25, 80, 6379])
      assert.ok(objection(address, port) instanceof NotAllowed, String(port))
    assert.ok(objection(address, 443, false) instanceof NotAllowed)
  }
})

test('addresses that are not public are reached in the allowed networks only, there at any port', () => {
  assert.equal(objection('10.1.2.3', 8080, false), undefined)
  for (const address of [
    '127.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '',
  ])
    assert.ok(objection(address, 443) instanceof NotPublic, address)
})
