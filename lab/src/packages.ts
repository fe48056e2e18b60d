// Sees to it that the lab's programs are there, from the one list of Debian packages in scripts/.
import { findProgram } from './program.ts'

type DebianPackages = {
  readonly debianPackages: readonly string[]
  missingPackages(): readonly string[] | undefined
  installPackages(names: readonly string[]): boolean
}

/** Installs what is missing when it may (root on Debian); throws with what to do otherwise. */
export async function ensurePrograms(): Promise<void> {
  if ((['gobgpd', 'gobgp', 'bird', 'birdc'] as const).every(findProgram)) return
  const url = new URL('../../scripts/debian-packages.mjs', import.meta.url)
  const { debianPackages, missingPackages, installPackages } = (await import(url.href)) as DebianPackages
  const missing = missingPackages()
  if (missing === undefined)
    throw new Error('the lab needs gobgpd 3 and BIRD 2 in the PATH; on Debian it installs them')
  if (process.getuid?.() !== 0)
    throw new Error(
      `the lab needs ${missing.join(', ')}. As root: apt-get install ${debianPackages.join(' ')}`,
    )
  if (!installPackages(missing)) throw new Error('the packages could not be installed, see above')
}
