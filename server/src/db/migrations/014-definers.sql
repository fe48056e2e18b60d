-- Functions that run with the rights of their owner: what they name is looked for in our schema, and among temporary
-- tables last, or whoever may make one of those could show them another table of the same name. Those that are called,
-- and not by a trigger, are for the team's role alone.
do $$
declare
  definer record;
begin
  for definer in select p.oid::regprocedure as signature, p.prorettype = 'trigger'::regtype as is_trigger
    from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef
  loop
    execute format('alter function %s set search_path = public, pg_temp', definer.signature);
    if not definer.is_trigger then
      execute format('revoke execute on function %s from public', definer.signature);
      execute format('grant execute on function %s to pharos_tenant', definer.signature);
    end if;
  end loop;
end $$;
