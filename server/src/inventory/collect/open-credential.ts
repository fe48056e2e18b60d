// Opens the credential of a device: its secrets are sealed for the name of the credential.
import { DriverError } from '../../runtime/driver-error.ts'
import { open, type KeyRing } from '../../runtime/secrets.ts'
import type { SealedCredential } from './collect.store.ts'
import type { DeviceCredential } from './device-driver.ts'

/** Throws a DriverError if a secret does not open: the device is reported as refused. A secret that is missing is empty, and the driver rejects the credential. */
export function openDeviceCredential(ring: KeyRing, row: SealedCredential): DeviceCredential {
  const secret = (sealed: Buffer | null) => (sealed === null ? '' : openSecret(ring, sealed, row.name))
  if (row.version === 'v2c') return { kind: 'v2c', community: secret(row.community_sealed) }
  return {
    kind: 'v3',
    user: row.user_name,
    auth: row.auth,
    authPassword: row.auth === null ? '' : secret(row.auth_sealed),
    privacy: row.privacy,
    privacyPassword: row.privacy === null ? '' : secret(row.privacy_sealed),
  }
}

function openSecret(ring: KeyRing, sealed: Buffer, name: string): string {
  try {
    return open(ring, 'device-credential', sealed, name).toString('utf8')
  } catch (cause) {
    throw new DriverError(
      'refused',
      `Credential ${name} cannot be decrypted with the keys of the installation.`,
      {
        cause,
      },
    )
  }
}
