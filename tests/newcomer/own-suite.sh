# A suite of one's own passes where its limit is kept, and fails CI where it is not.
suite() {
    cat > my-suite.toml <<TOML
title = "Our calls"

[[cases]]
name = "thin"
title = "A thin link"
scenario = "gcc-2016/variable-capacity"
set = ["duration=50s"]

[[cases.checks]]
quantity = "queue wait p95"
at_most = $1
TOML
    weir suite my-suite.toml --controller ledbat --runs 2 --require thin --quiet > matrix
}
suite 400
if suite 40 2> missed; then
    echo "a limit of 40 ms was kept, or not asked for" >&2
    exit 1
fi
grep --quiet 'missed: --require thin: ledbat ✗' missed
