import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { parseListenAddress } from '../../server/src/drivers/dns-server/listen-address.ts'
import { ListenError } from '../../server/src/runtime/listen-problem.ts'
import { settingNames, variableOf } from '../../server/src/runtime/settings.ts'
import { checkPort, replaceTakenPorts } from './listeners.ts'

const listeners = settingNames.filter((name) => name.endsWith('_listen'))
const tcp = createServer()
const udp = createSocket('udp4')
const taken: string[] = []

before(async () => {
  tcp.listen(0, '127.0.0.1')
  udp.bind(0, '127.0.0.1')
  await Promise.all([once(tcp, 'listening'), once(udp, 'listening')])
  for (const { port } of [tcp.address() as AddressInfo, udp.address()]) taken.push(`127.0.0.1:${port}`)
})
after(() => {
  tcp.close()
  udp.close()
})

describe('a port that another program has', () => {
  it('is replaced for every listener but the portal, and a setting is kept', async () => {
    assert.ok(listeners.length >= 3)
    for (const name of listeners)
      for (const value of taken) {
        const variable = variableOf(name)
        const found = await replaceTakenPorts([{ name, variable, value, source: 'default' }])
        assert.deepEqual(Object.keys(found), [variable])
        const { host, port } = parseListenAddress(found[variable]!)
        assert.equal(host, '127.0.0.1')
        await checkPort({ host, port })
        await assert.rejects(
          replaceTakenPorts([{ name, variable, value, source: variable }]),
          new ListenError(
            `${value} is used by another program: stop it, or set ${variable} to another port.`,
          ),
        )
      }
  })

  it('is kept if it is free, and one that is off is left alone', async () => {
    const settings = listeners.map((name) => ({ name, variable: variableOf(name), source: 'default' }))
    for (const value of ['off', '127.0.0.1:0'])
      assert.deepEqual(await replaceTakenPorts(settings.map((one) => ({ ...one, value }))), {})
  })

  it('stops the portal with the name of the setting', async () => {
    const { port } = tcp.address() as AddressInfo
    await assert.rejects(
      checkPort({ host: '127.0.0.1', port }),
      new ListenError(`${taken[0]} is used by another program: stop it, or set PHAROS_PORT to another port.`),
    )
  })
})
