// The simulated device passes the conformance suite of its port.
import {
  deviceSourceConformance,
  type DeviceFixture,
  type ScriptedInterface,
} from '../../inventory/collect/device-source.conformance.ts'
import type { SandboxDeviceSettings, SandboxInterface } from './settings.ts'
import { SandboxDeviceSource } from './source.ts'

deviceSourceConformance('of a simulated device', ['optics'], async (): Promise<DeviceFixture> => {
  const now = () => new Date('2026-06-01T12:00:00Z')
  const settings: { -readonly [K in keyof SandboxDeviceSettings]: SandboxDeviceSettings[K] } = {
    interfaces: [],
  }
  const options = { name: '', settings, now }
  const create = () => new SandboxDeviceSource(options)
  return {
    source: create(),
    create,
    set: ({ identity: { name, ...identity }, interfaces }) => {
      options.name = name
      Object.assign(settings, identity, { interfaces: interfaces.map(sandboxInterface) })
    },
    setFault: (fault) => {
      settings.silent = fault === 'silent'
    },
    stop: async () => undefined,
  }
})

function sandboxInterface({ name, alias, isLag, lag, optic, ...one }: ScriptedInterface): SandboxInterface {
  return {
    name: name!,
    admin: one.admin as 'up',
    oper: one.oper as 'up',
    in_bps: 1e9,
    ...(one.speedBps === null ? {} : { speed_bps: one.speedBps }),
    ...(alias === undefined ? {} : { alias }),
    ...(isLag === undefined ? {} : { is_lag: isLag }),
    ...(lag === undefined ? {} : { lag }),
    ...(one.addresses === undefined ? {} : { addresses: [...one.addresses] }),
    ...(optic === undefined
      ? {}
      : {
          optic: {
            type: '100GBASE-LR4',
            serial: optic.serial,
            lanes: optic.lanes,
            ...(optic.rxDbm === null ? {} : { rx_dbm: optic.rxDbm }),
          },
        }),
  }
}
