# A suite of one's own that fails CI where its limit is not kept.
cat > my-suite.toml <<'TOML'
title = "Our calls"

[[cases]]
name = "thin"
title = "A thin link"
scenario = "gcc-2016/variable-capacity"
set = ["duration=20s"]

[[cases.checks]]
quantity = "rate"
at_least = 99
TOML
weir schema suite > schema.json
if weir suite my-suite.toml --controller gcc --runs 2 --require thin --quiet > matrix; then
    echo "a limit of 99 % was kept, or not asked for" >&2
    exit 1
fi
grep --quiet thin matrix
