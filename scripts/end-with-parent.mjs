// Loaded before a command of scripts/run.mjs: stops this process once its parent has ended for any reason, SIGKILL
// included, when the kernel closes the channel between them.
if (process.channel) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Neither the channel nor its listener keeps the process alive.
  process.channel.unref()
}
// The processes that this one forks use their channel: they do not inherit `--import` of this file.
const at = process.execArgv.findIndex((argument) => argument.endsWith('end-with-parent.mjs'))
if (at > 0) process.execArgv.splice(at - 1, 2)
