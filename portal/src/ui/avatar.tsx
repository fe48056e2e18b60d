// A person as a circle with their initials; decorative beside the name.
import { initialsOf } from './initials.ts'
import classes from './avatar.module.css'

export const Avatar = ({ name }: { name: string }) => (
  <span className={classes['avatar']} data-initials={initialsOf(name)} aria-hidden />
)
