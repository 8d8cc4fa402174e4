r"""Formats of the tokens of known services, as the services publish them: prefix, letters and length.

`TOKENS` maps a kind to its prefixes, separated by blanks, each with a regular expression for the rest.
"""

from __future__ import annotations

_HEX32, _HEX40, _UUID = r"[0-9a-f]{32}", r"[0-9a-f]{40}", r"[0-9a-f-]{36}"
_WORD20, _ALNUM32 = r"[\w-]{20,}", r"[A-Za-z0-9]{32,}"

TOKENS: dict[str, dict[str, str]] = {
    "anthropic-key": {"sk-ant-": _WORD20},
    "openai-key": {
        "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf-": _WORD20,
        "sk-": rf"(?:[\w-]{{20,250}}T3BlbkFJ{_WORD20}|{_ALNUM32})",
    },
    "github-token": {"ghp_ gho_ ghu_ ghs_ ghr_": r"[A-Za-z0-9]{36,}", "github_pat_": r"\w{22,}"},
    "google-key": {"AIza": r"[\w-]{35}", "GOCSPX-": r"[\w-]{28}", "ya29.": _WORD20, "1//0": r"[\w-]{40,}"},
    "slack-token": {"xox": r"[abeoprs][.-][A-Za-z0-9.-]{10,}", "xapp- xwfp-": r"\d-[A-Za-z0-9-]{10,}"},
    "huggingface-token": {"hf_ api_org_": r"[A-Za-z0-9]{30,200}(?!\w)"},
    "npm-token": {"npm_": r"[A-Za-z0-9]{36}"},
    "gitlab-token": {
        "glpat- glptt- glrt- glrtr- gldt- glcbt- glsoat- glft- glffct- glimt- glagent- gloas- GR1348941": (
            r"[\w-]{20,}(?:\.[\w-]+)*"
        )
    },
    "grafana-token": {"glsa_": r"[A-Za-z0-9]{32}_[0-9a-f]{8}", "glc_": r"[A-Za-z0-9+/]{32,}={0,2}"},
    "stripe-key": {
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_": r"[A-Za-z0-9]{10,}",
        "whsec_": r"[A-Za-z0-9+/=]{24,}",
    },
    "elevenlabs-key": {"sk_": r"[0-9a-f]{48}"},
    "groq-key": {"gsk_": r"[A-Za-z0-9]{40,}"},
    "xai-key": {"xai-": r"[A-Za-z0-9]{60,}"},
    "nvidia-key": {"nvapi-": r"[\w-]{50,}"},
    "langsmith-key": {"lsv2_": r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"},
    "replicate-token": {"r8_": r"[A-Za-z0-9]{37}"},
    "perplexity-key": {"pplx-": r"[A-Za-z0-9]{40,}"},
    "tavily-key": {"tvly-": _WORD20},
    "fireworks-key": {"fw_": r"[A-Za-z0-9]{22,}"},
    "together-key": {"tgp_v1_": r"[\w-]{40,}"},
    "jina-key": {"jina_": r"[A-Za-z0-9]{40,}"},
    "cerebras-key": {"csk-": r"[a-z0-9]{40,}"},
    "pinecone-key": {"pcsk_": r"\w{50,}"},
    "e2b-key": {"e2b_": _HEX40},
    "firecrawl-key": {"fc-": _HEX32},
    "runpod-key": {"rpa_": r"[A-Z0-9]{40,}"},
    "cursor-key": {"key_ crsr_": r"[0-9a-f]{64}"},
    "resend-key": {"re_": r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"},
    "render-key": {"rnd_": r"[A-Za-z0-9]{28,}"},
    "neon-key": {"napi_": r"[a-z0-9]{60,}"},
    "posthog-key": {"phx_ phc_": r"[A-Za-z0-9]{40,}"},
    "deno-token": {"ddp_ ddw_": r"[A-Za-z0-9]{36}"},
    "vercel-token": {"vcp_ vck_ vci_ vcr_ vca_": r"[A-Za-z0-9]{24,}"},
    "tailscale-key": {"tskey-": r"[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"},
    "sonar-token": {"squ_ sqp_ sqa_": _HEX40},
    "circleci-token": {"CCIPAT_ CCIPRJ_": _WORD20},
    "trello-token": {"ATTA": r"[0-9a-f]{72}"},
    "dropbox-token": {"sl.": r"(?:[a-z]\.)?[\w-]{100,}"},
    "linear-key": {"lin_api_ lin_oauth_": _ALNUM32},
    "notion-token": {"ntn_": r"[A-Za-z0-9]{40,}", "secret_": r"[A-Za-z0-9]{43}(?!\w)"},
    "figma-token": {"figd_ figoh_": r"[\w-]{36,}"},
    "atlassian-token": {"ATATT3 ATCTT3 ATBB": r"[\w=-]{28,}"},
    "supabase-token": {"sbp_": _HEX40, "sb_secret_": _WORD20},
    "planetscale-token": {"pscale_pw_ pscale_tkn_ pscale_oauth_": r"[\w.=-]{32,}"},
    "fly-token": {"fm1a_ fm1r_ fm2_ fo1_": r"[\w+/=,-]{32,}"},
    "postman-key": {"PMAK-": r"[0-9a-f]{24}-[0-9a-f]{34}"},
    "dbt-token": {"dbtu_ dbtc_ dbts_": r"[\w-]{32,}"},
    "netlify-token": {"nfp_ nfc_ nfo_ nfb_ nfu_": _ALNUM32},
    "onepassword-token": {
        "ops_ey": r"[\w+/=-]{60,}",
        "A3-": r"[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,5}[A-Z0-9]{5,6}",
    },
    "mailgun-key": {"key-": _HEX32},
    "okta-token": {"SSWS": r"(?:\s|%20)00[\w-]{40}"},
    "alibaba-key": {"LTAI": r"[A-Za-z0-9]{12,24}"},
    "buildkite-token": {"bkua_ bkui_ bkaj_ bkat_": _HEX40},
    "adafruit-key": {"aio_": r"[A-Za-z0-9]{28}"},
    "contentful-token": {"CFPAT-": r"[\w-]{40,}"},
    "clojars-token": {"CLOJARS_": r"[a-z0-9]{60}"},
    "duffel-token": {"duffel_test_ duffel_live_": r"[\w-]{40,}"},
    "dynatrace-token": {"dt0": r"[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"},
    "easypost-key": {"EZAK EZTK": r"[A-Za-z0-9]{54}"},
    "facebook-token": {"EAA": r"[A-Za-z0-9]{80,}"},
    "flutterwave-key": {"FLWSECK-": r"[0-9A-Za-z]{12,}", "FLWSECK_TEST-": r"[0-9A-Za-z]{12,}"},
    "harness-token": {"pat. sat.": r"[\w-]{22}\.[0-9a-f]{24}\.\w{20}"},
    "heroku-key": {"HRKU-": r"[\w-]{36,}"},
    "hubspot-token": {"pat-na1- pat-na2- pat-eu1- pat-ap1-": _UUID},
    "infracost-key": {"ico-": r"[A-Za-z0-9]{32}"},
    "lichess-token": {"lip_": r"[A-Za-z0-9]{20,}"},
    "mapbox-token": {"sk.eyJ": r"[\w-]{40,}\.[\w-]{20,}"},
    "nuget-key": {"oy2": r"[a-z0-9]{43}(?!\w)"},
    "openshift-token": {"sha256~": r"[\w-]{43}"},
    "plaid-token": {"access-sandbox- access-development- access-production-": _UUID},
    "prefect-key": {"pnu_ pnb_": r"[A-Za-z0-9]{36}"},
    "readme-key": {"rdme_": r"[a-z0-9]{70}"},
    "rubygems-key": {"rubygems_": r"[0-9a-f]{48}"},
    "scalingo-token": {"tk-us-": r"[\w-]{48}"},
    "sendinblue-key": {"xkeysib- xsmtpsib-": r"[0-9a-f]{64}-[A-Za-z0-9]{16}"},
    "settlemint-token": {"sm_aat_ sm_pat_ sm_sat_": r"[A-Za-z0-9]{16,}"},
    "shippo-token": {"shippo_live_ shippo_test_": _HEX40},
    "sourcegraph-token": {"sgp_": r"(?:[a-z0-9]+_)?[0-9a-f]{40}"},
    "typeform-token": {"tfp_": r"[\w.-]{44,}"},
    "yandex-key": {"AQVN": r"[\w-]{35,}"},
    "twitter-token": {"AAAAAAAAAAAAAAAAAAAAA": r"[A-Za-z0-9%]{60,}"},
    "pulumi-token": {"pul-": _HEX40},
    "artifactory-key": {"AKCp": r"[A-Za-z0-9]{10,}"},
    "databricks-token": {"dapi": r"[0-9a-f]{32}(?:-\d)?"},
    "digitalocean-token": {"dop_v1_ doo_v1_ dor_v1_": r"[0-9a-f]{64}"},
    "age-key": {"AGE-SECRET-KEY-": r"(?:PQ-)?1[0-9A-Z]{50,}", "age-secret-key-": r"(?:pq-)?1[0-9a-z]{50,}"},
    "sentry-token": {"sntrys_ sntryu_": r"[\w+/=-]{40,}"},
    "docker-token": {"dckr_pat_ dckr_oat_": r"[\w-]{27,}"},
    "shopify-token": {"shpat_ shpca_ shppa_ shpss_ shptka_": _HEX32},
    "new-relic-key": {"NRAK- NRII- NRAA-": r"[\w-]{27,}"},
    "doppler-token": {"dp.": r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}"},
    "vault-token": {"hvs. hvb. hvr.": r"[\w-]{24,}"},
    "aws-access-key": {"A3T": r"[A-Z0-9]{17}", "AKIA ASIA ABIA ACCA": r"[0-9A-Z]{16}"},
    "json-web-token": {"eyJ": r"[\w-]{8,800}\.eyJ[\w-]{8,}\.[\w-]{8,}"},
    # A macaroon for a registry of Python packages: its first bytes are always the same.
    "pypi-token": {"pypi-Ag": r"[\w-]{84,}"},
    "sendgrid-api-key": {"SG.": r"[\w-]{22}\.[\w-]{43}"},
    "square-oauth-secret": {"sq0csp- sq0atp- sq0idp-": r"[\w-]{22,43}"},
}

UNMARKED: dict[str, tuple[str, str]] = {
    "twilio-api-key": ("ac sk", r"(?:AC|SK)[0-9a-f]{32}(?![0-9A-Za-z])"),
    "discord-bot-token": ("", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    "telegram-bot-token": ("", r"[0-9]{8,10}:[A-Za-z0-9_-]{35}"),
    "mailchimp-access-key": ("-us", r"[0-9a-f]{32}-us\d{1,2}"),
    "terraform-token": (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    "azure-client-secret": (
        " ".join(f"{digit}q~" for digit in range(10)),
        r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    "airtable-token": ("pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "maxmind-key": ("_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
}
"""Tokens without a prefix: kind -> (`needs` of the pattern, regular expression).

They are found inside longer words too, because checking the text before every letter would be slow.
"""

# A service that is not listed: a word or two, "_", and characters too mixed for words.
PREFIXED = r"[A-Za-z](?<![\w.+/-][A-Za-z])[A-Za-z]{1,11}_(?:[a-z]{2,10}_){0,2}[A-Za-z0-9]{30,120}(?![\w-])"
