-- API tokens that teams make by themselves.
select;
