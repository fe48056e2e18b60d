// Types of the parts of the npm package net-snmp 3.29 that session.ts uses.
declare module 'net-snmp' {
  import type { EventEmitter } from 'node:events'

  type Varbind = {
    readonly oid: string
    /** Tag of the value (BER), such as 4 for an octet string. */
    readonly type: number
    readonly value: number | string | boolean | Uint8Array | null
  }
  type User = {
    name: string
    level: number
    authProtocol?: number
    authKey?: string
    privProtocol?: number
    privKey?: string
  }
  type Options = {
    port: number
    transport: 'udp4' | 'udp6'
    version?: number
    timeout: number
    retries: number
    dgramModule: { createSocket(): unknown }
  }
  interface Session extends EventEmitter {
    get(oids: readonly string[], done: (error: Error | null, varbinds: Varbind[]) => void): void
    /** The scalars come as varbinds, then each repeated OID as a list of varbinds. */
    getBulk(
      oids: readonly string[],
      nonRepeaters: number,
      maxRepetitions: number,
      done: (error: Error | null, varbinds: (Varbind | Varbind[])[]) => void,
    ): void
    cancelRequests(error: Error): void
    close(): void
    /** Set once the engine of the device is known (SNMPv3). */
    readonly msgSecurityParameters?: object
  }
  const snmp: {
    readonly Version2c: number
    readonly SecurityLevel: Readonly<Record<'noAuthNoPriv' | 'authNoPriv' | 'authPriv', number>>
    readonly AuthProtocols: Readonly<
      Record<'md5' | 'sha' | 'sha224' | 'sha256' | 'sha384' | 'sha512', number>
    >
    readonly PrivProtocols: Readonly<Record<'aes' | 'aes256b' | 'aes256r', number>>
    createSession(address: string, community: string, options: Options): Session
    createV3Session(address: string, user: User, options: Options): Session
  }
  export default snmp
  export type { Session, User, Varbind }
}
