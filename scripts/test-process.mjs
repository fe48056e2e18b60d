// Runs test files in one process, each as a separate suite, one after the other: run-tests.mjs names the next file over
// the channel, and closes it after the last. Most files spend more time on loading the product than on their tests.
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

// Files add listeners for the end of the process, which ends after the last file.
process.setMaxListeners(0)
process.on('message', ({ file, timeout }) => {
  void suite(file, { timeout }, () => import(pathToFileURL(file).href))
})
