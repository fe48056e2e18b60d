// The provider's logo; without one, the lighthouse.
import { brand } from './brand.ts'
import { Mark } from './mark.tsx'
import classes from './logo.module.css'

/** Decorative: the provider's name stands beside it. `size` is the height in pixels. */
export const Logo = ({ size = 24 }: { size?: number }) =>
  brand.logo === '' ? (
    <Mark size={size} />
  ) : (
    <img src={brand.logo} alt="" height={size} className={classes['logo']} />
  )
