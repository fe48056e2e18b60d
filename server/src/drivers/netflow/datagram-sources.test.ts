import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { isBuiltin } from 'node:module'
import { it } from 'node:test'
import { datagramSourceConformance } from '../../flow/datagram-source.conformance.ts'
import { createDatagramSource } from './datagram-sources.ts'
import { createDgramSource } from './dgram.ts'

const skip = !isBuiltin('node:ffi') && 'this Node has no node:ffi'

datagramSourceConformance('dgram', createDgramSource)
if (!skip) datagramSourceConformance('recvmmsg', (await import('./recvmmsg.ts')).createRecvmmsgSource)

it('datagrams are received by recvmmsg here, and by dgram where there is no node:ffi', { skip }, async () => {
  const source = await createDatagramSource({
    listen: [{ address: '127.0.0.1', port: 0 }],
    receiveBufferBytes: 65_536,
  })
  assert.equal(source.kind, 'recvmmsg')
  source.stop()
  const script = `
    const { createDatagramSource } = await import(${JSON.stringify(new URL('datagram-sources.ts', import.meta.url).href)})
    const source = await createDatagramSource({ listen: [{ address: '127.0.0.1', port: 0 }], receiveBufferBytes: 65536 })
    console.log(source.kind)
    source.stop()`
  const output = execFileSync(
    process.execPath,
    ['--no-experimental-ffi', '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(output.trim(), 'dgram')
})
