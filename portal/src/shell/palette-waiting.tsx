// The placeholder of the command palette until its file is loaded: the query as it is typed. It takes no focus, which the
// palette gets from the page and gives back to it.
import { IconSearch } from '@tabler/icons-react'
import classes from './palette-waiting.module.css'
import { words } from './words.ts'

/** The attribute of the palette once it is loaded. */
export const paletteMark = 'data-palette'

export const PaletteWaiting = ({ query }: { readonly query: string }) => (
  <div className={classes['over']} aria-busy>
    <div className={classes['field']}>
      <IconSearch size={18} stroke={1.6} />
      {query === '' ? <span className={classes['hint']}>{words.search}</span> : <span>{query}</span>}
    </div>
  </div>
)
