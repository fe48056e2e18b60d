// The provider's name and logo, which the server writes into the page; without them the portal shows its own.
import { Mark } from './mark.tsx'
import classes from './brand.module.css'

const meta = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="pharos:${name}"]`)?.content ?? ''

/** `support`: an https: or mailto: address; empty if there is none. */
export const brand = { name: meta('provider') || 'Pharos', logo: meta('logo'), support: meta('support') }

/** The provider's logo, or the lighthouse; decorative beside the name. */
export const Logo = ({ size = 24 }: { size?: number }) =>
  brand.logo === '' ? (
    <Mark size={size} />
  ) : (
    <img src={brand.logo} alt="" height={size} className={classes['logo']} />
  )
