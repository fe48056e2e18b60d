// The provider's logo; without one, the lighthouse.
import { brand } from './brand.ts'
import classes from './logo.module.css'

/** Decorative: the provider's name stands beside it. `size` is the height in pixels. */
export const Logo = ({ size = 24 }: { size?: number }) =>
  brand.logo === '' ? (
    <Mark size={size} />
  ) : (
    <img src={brand.logo} alt="" height={size} className={classes['logo']} />
  )

/** The mark, a lighthouse with its two beams. Decorative: the name beside it is the text. `size` in pixels. */
const Mark = ({ size }: { size: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden focusable={false}>
    <path className={classes['tower']} d="M13.2 13h5.6l1.9 15H11.3z" />
    <path className={classes['tower']} d="M11 11.2h10v-1.6h-1.6V6.2L16 3.4l-3.4 2.8v3.4H11z" />
    <path className={classes['beam']} d="M21.6 7.1 31 3.6v8.6l-9.4-3.5zM10.4 7.1 1 3.6v8.6l9.4-3.5z" />
    <path fill="var(--surface)" d="M12.6 17.2l.3-2.4h6.2l.3 2.4zM12 22l.3-2.4h7.4l.3 2.4z" opacity=".35" />
  </svg>
)
