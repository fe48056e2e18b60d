// Installs the programs of `npm run lab`, or reports which are missing.
import { findProgram, packageOf, type ProgramName } from './program.ts'

/** The programs that it runs or mentions. */
export const labPrograms = [
  'gobgpd',
  'gobgp',
  'bird',
  'birdc',
  'stayrtr',
  'nsd',
  'named',
  'knotd',
  'knotc',
  'unbound',
  'dig',
  'nft',
  'softflowd',
] as const

/** Further programs of `--ha`. */
export const haPrograms = ['etcd', 'patroni', 'haproxy', 'setpriv', 'ip'] as const

type Installer = {
  missingPackages(names: readonly string[]): readonly string[] | undefined
  installPackages(names: readonly string[]): boolean
}

/** Installs missing packages if permitted (root on Debian); otherwise throws with the command to run. */
export async function ensurePrograms(programs: readonly ProgramName[] = labPrograms): Promise<void> {
  const names = packagesMissing(programs)
  if (names.length === 0) return
  const { missingPackages, installPackages } = (await import(
    new URL('../../scripts/debian-packages.mjs', import.meta.url).href
  )) as Installer
  const list = names.join(' ')
  if (missingPackages(names) === undefined)
    throw new Error(
      `The lab needs ${list}. Install them and add them to the PATH; on Debian npm run lab installs them as root.`,
    )
  if (process.getuid?.() !== 0)
    throw new Error(
      `The lab needs ${list}. Run as root: apt-get install ${list}. Or run npm run lab as root, which installs it.`,
    )
  process.stderr.write(`Installing ${list} ...\n`)
  const isInstalled = installPackages(names)
  const stillMissing = packagesMissing(programs).join(' ')
  if (!isInstalled || stillMissing !== '')
    throw new Error(
      `The packages could not be installed: see the output of apt-get above. Run as root: apt-get install ${stillMissing || list}.`,
    )
}

function packagesMissing(programs: readonly ProgramName[]): string[] {
  return [...new Set(programs.filter((name) => !findProgram(name)).map(packageOf))]
}
