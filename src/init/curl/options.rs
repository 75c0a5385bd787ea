//! Every option of curl up to 8.17: what must not be taken for a URL is the value of one.

use crate::profile::nearest::nearest;

/// Those that take a value.
const VALUED: &str = "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config \
    connect-timeout connect-to continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii \
    data-binary data-raw data-urlencode delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url \
    dump-header ech egd-file engine etag-compare etag-save expect100-timeout form form-string ftp-account \
    ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header \
    help hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway json keepalive-cnt keepalive-time key key-type \
    knownhosts krb krb4 libcurl limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize \
    max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max parallel-max-host pass \
    pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert \
    proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass \
    proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser \
    proxy-user proxy1.0 pubkey quote random-file range rate referer request request-target resolve retry \
    retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 socks5-gssapi-service \
    socks5-hostname speed-limit speed-time ssl-sessions stderr telnet-option tftp-blksize time-cond tls-max \
    tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket upload-file \
    upload-flags url url-query user user-agent variable vlan-priority write-out";

/// Those that take none.
const FLAGS: &str = "alpn anyauth append basic buffer ca-native cert-status clobber compressed compressed-ssh \
    create-dirs crlf digest disable disable-eprt disable-epsv disallow-username-in-url doh-cert-status doh-insecure \
    dump-ca-embed eprt epsv fail fail-early fail-with-body false-start follow form-escape ftp-create-dirs ftp-pasv \
    ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc ftp-ssl-control ftp-ssl-reqd get globoff haproxy-protocol head \
    http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only ignore-content-length include insecure ipv4 \
    ipv6 junk-session-cookies keepalive list-only location location-trusted mail-rcpt-allowfails manual metalink \
    mptcp negotiate netrc netrc-optional next npn ntlm ntlm-wb out-null parallel parallel-immediate path-as-is \
    post301 post302 post303 progress-bar progress-meter proxy-anyauth proxy-basic proxy-ca-native proxy-digest \
    proxy-http2 proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast proxy-ssl-auto-client-cert \
    proxy-tlsv1 proxytunnel raw remote-header-name remote-name remote-name-all remote-time remove-on-error \
    retry-all-errors retry-connrefused sasl-ir sessionid show-error show-headers silent skip-existing socks5-basic \
    socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd \
    ssl-revoke-best-effort sslv2 sslv3 styled-output suppress-connect-headers tcp-fastopen tcp-nodelay \
    tftp-no-options tls-earlydata tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ids trace-time use-ascii \
    verbose version xattr";

/// One letter each.
const LETTERS: &str = "0 http1.0 1 tlsv1 2 sslv2 3 sslv3 4 ipv4 6 ipv6 : next # progress-bar A user-agent \
    B use-ascii C continue-at D dump-header E cert F form G get H header I head J remote-header-name K config \
    L location M manual N buffer O remote-name P ftp-port Q quote R remote-time S show-error T upload-file \
    U proxy-user V version X request Y speed-limit Z parallel a append b cookie c cookie-jar d data e referer f fail \
    g globoff h help i show-headers j junk-session-cookies k insecure l list-only m max-time n netrc o output \
    p proxytunnel q disable r range s silent t telnet-option u user v verbose w write-out x proxy y speed-time \
    z time-cond";

/// Those that say nothing about the request: where output goes, how curl talks, how long it waits to try again.
const QUIET: &str = "buffer clobber compressed cookie-jar create-dirs create-file-mode disable dump-header etag-save \
    fail fail-early fail-with-body get globoff head http1.1 include libcurl out-null output \
    output-dir parallel parallel-immediate parallel-max parallel-max-host progress-bar progress-meter remote-header-name \
    remote-name remote-name-all remote-time remove-on-error show-error show-headers silent skip-existing stderr \
    styled-output suppress-connect-headers trace trace-ascii trace-config trace-ids trace-time verbose write-out xattr";

/// An option by its long name, and whether it takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) valued: bool,
}

fn find(list: &'static str, name: &str) -> Option<&'static str> {
    list.split_ascii_whitespace().find(|known| *known == name)
}

/// The option of this long name, without its dashes.
pub(super) fn long(name: &str) -> Option<Known> {
    let flag = |name| find(FLAGS, name).map(|name| Known { name, valued: false });
    find(VALUED, name).map(|name| Known { name, valued: true }).or_else(|| flag(name))
}

/// The option that a letter stands for.
pub(super) fn short(letter: char) -> Option<Known> {
    let mut words = LETTERS.split_ascii_whitespace();
    while let (Some(known), Some(name)) = (words.next(), words.next()) {
        if known.chars().eq([letter]) {
            return long(name);
        }
    }
    None
}

/// Whether an option changes nothing that a profile could say.
pub(super) fn is_quiet(name: &str) -> bool {
    find(QUIET, name).is_some()
}

/// The option that was most likely meant.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    nearest(name, VALUED.split_ascii_whitespace().chain(FLAGS.split_ascii_whitespace()))
}

/// Every option that takes a value.
#[cfg(test)]
pub(super) fn valued() -> impl Iterator<Item = &'static str> {
    VALUED.split_ascii_whitespace()
}

/// Every letter with its option.
#[cfg(test)]
pub(super) fn letters() -> impl Iterator<Item = (char, Known)> {
    (' '..='~').filter_map(|letter| short(letter).map(|known| (letter, known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_in_one_list_and_every_letter_has_an_option() {
        let flags: Vec<&str> = FLAGS.split_ascii_whitespace().collect();
        assert!(valued().all(|name| !flags.contains(&name)));
        assert_eq!(letters().count(), LETTERS.split_ascii_whitespace().count() / 2);
        for name in QUIET.split_ascii_whitespace() {
            assert!(long(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_value_is_known_to_be_one() {
        for name in ["user", "oauth2-bearer", "proxy-tlspassword", "aws-sigv4", "url-query", "knownhosts"] {
            assert_eq!(long(name), Some(Known { name, valued: true }));
        }
        assert_eq!(short('u').map(|known| known.name), Some("user"));
        assert_eq!(short('s').map(|known| known.valued), Some(false));
        assert_eq!((long("nope"), short('ü'), short(' ')), (None, None, None));
        assert_eq!(meant("haeder"), Some("header"));
    }
}
