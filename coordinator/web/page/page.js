// Made by coordinator/web/page/build of sources 0fd36ba9854dc6a822e50bdd04920d8a3ee9f41b2fc3fa018c86f3e3fa386f45
/* It holds uPlot:
The MIT License (MIT)

Copyright (c) 2022 Leon Sorokin

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/
"use strict";(()=>{function N(e,t={},...s){let l=document.createElement(e);for(let[i,u]of Object.entries(t))l.setAttribute(
i,u);return l.append(...s),l}function Se(e,t){e.textContent!==t&&(e.textContent=t)}var Nt=class{constructor(t,s,l){
this.name=t;this.empty=N("p",{class:"note"},l);let i=N("tr",{},...s.map(c=>N("th",{scope:"col"},c))),
u=N("table",{},N("thead",{},i),this.body);this.box=N("section",{class:"list"},N("h2",{},this.title),
N("div",{class:"scroll"},u),this.empty,this.note),Se(this.title,t),this.empty.hidden=this.note.hidden=
u.hidden=!0}name;box;body=N("tbody");empty;note=N("p",{class:"note"});title=N("span");rows=new Map;show(t,s=""){
Se(this.title,t.length>0?`${this.name} (${t.length})`:this.name),this.empty.hidden=t.length>0,this.body.
parentElement.hidden=t.length===0,this.note.hidden=s==="",Se(this.note,s);let l=new Set(t.map(i=>i.key));
for(let[i,u]of this.rows)l.has(i)||(u.remove(),this.rows.delete(i));t.forEach((i,u)=>this.showRow(i,
u))}showRow(t,s){let l=this.rows.get(t.key);if(!l){l=N("tr");for(let i of t.cells)l.append(N("td"));
t.link&&l.cells[0].append(N("a",{href:t.link,"data-row":""})),this.rows.set(t.key,l)}t.cells.forEach(
(i,u)=>{let c=l.cells[u];Se(u===0&&t.link?c.firstChild:c,i)}),l.dataset.state=t.state??"",this.body.
children[s]!==l&&this.body.insertBefore(l,this.body.children[s]??null)}},Ql=class{box=N("dl");values=new Map;show(t){
let s=t.map(([l])=>l);if([...this.values.keys()].join()!==s.join()){this.values.clear(),this.box.replaceChildren();
for(let l of s){let i=N("dd");this.values.set(l,i),this.box.append(N("div",{},N("dt",{},l),i))}}for(let[
l,i]of t)Se(this.values.get(l),i)}},Nl=class{box;list=N("ul");constructor(t,s){this.box=N("section",
{class:s},N("h3",{},t),this.list)}show(t){for(this.box.hidden=t.length===0;this.list.children.length>
t.length;)this.list.lastChild.remove();t.forEach((s,l)=>{this.list.children[l]||this.list.append(N("\
li")),Se(this.list.children[l],s)})}};var Or=new TextDecoder;function ke(e){return e?Or.decode(Uint8Array.from(atob(e),t=>t.charCodeAt(0))):
""}function B(e){return e===void 0?0:Number(e)}function So(e,t){let[s,l]=t.find(([c])=>e>=c)??t[t.length-
1],i=e/s,u=i>=100||Number.isInteger(i)?0:i>=10?1:2;return`${i.toFixed(u)} ${l}`}function Ge(e){if(e>=
12e10){let t=Math.floor(e/1e9),s=Math.floor(t/3600),l=Math.floor(t%3600/60);return(s>0?`${s} h ${l} \
min`:`${l} min ${t%60} s`).replaceAll(" "," ")}return So(e,[[1e9,"s"],[1e6,"ms"],[1e3,"µs"],[1,"ns"]])}
function Kt(e){return So(e,[[2**40,"TiB"],[2**30,"GiB"],[2**20,"MiB"],[2**10,"KiB"],[1,"B"]])}function st(e){
return e.toLocaleString("en").replace(/,/g," ")}function bn(e){return`${(100*e).toFixed(e>0&&e<.1?
1:0)} %`}function Ct(e){return e===0?"–":new Date(e).toLocaleTimeString("en-GB")}function ko(e){let t=[];
for(let s=0;s<e.length;){let l=s;for(;e[l+1]===e[l]+1;)l+=1;t.push(l>s?`${e[s]}–${e[l]}`:`${e[s]}`),
s=l+1}return t.join(", ")}var Rr={NODE_UP:"● up",NODE_DRAINED:"◌ drained",NODE_LOST:"✕ lost",NODE_RESTING:"◐ resting",
NODE_CONNECTING:"◔ connecting",WAITING:"… waiting",RUNNING:"▶ running",ENDING:"◑ ending",RECOVERING:"\
↺ recovering",SUSPENDED:"‖ suspended",SUCCEEDED:"✓ succeeded",FAILED:"✕ failed",CANCELLED:"–\
 cancelled"};function Xl(e){return(Rr[e??""]??e??"").replace(" "," ")}function us(e,t){return B(e.next)===
0?"":`The newest ${t}; \`bsp jobs\` lists all.`}function fs(e){return ke(e.spec?.name)||ke(e.spec?.program?.
name)||"job"}function cs(e,t){let s=String(e.job??0);return{key:s,link:`#job=${s}`,state:e.state??"",
cells:[`${s} ${fs(e)}`,ke(e.spec?.user),String(e.spec?.nprocs??0),...t]}}function $r(e){let t=new Map,
s=[];for(let{spec:u}of e){let c=u?.accounts??"";(c==="own:everybody"||c.startsWith("fixed:"))&&t.set(
c,[...t.get(c)??[],ke(u?.name)]),u?.limits==="none"&&s.push(ke(u.name))}let l=u=>u.length>1&&u.length===
e.length?"all nodes":u.join(", "),i=[...t].map(([u,c])=>`${u} on ${l(c)}: the programs of all users \
run there as one account, and can reach each other's files and processes.`);return s.length>0&&i.push(
`No limits on ${l(s)}: no control group limits what jobs take there of memory, processes and process\
ors.`),i.join(" ")}var xn=class{box;nodes=new Nt("Nodes",["node","state","slots","load","jobs"],"No \
worker has registered yet.");running=new Nt("Running",["job","user","p","state","supersteps","time"],
"Nothing runs.");waiting=new Nt("Queue",["job","user","p","why it waits"],"Nothing waits.");ended=new Nt(
"Ended",["job","user","p","state","time"],"Nothing has ended yet.");constructor(){this.box=N("nav",{
"aria-label":"The cluster"},this.running.box,this.waiting.box,this.nodes.box,this.ended.box),this.box.
addEventListener("keydown",t=>this.onKey(t))}showNodes(t){this.nodes.show(t.map(s=>({key:ke(s.spec?.
name),state:s.state??"",cells:[ke(s.spec?.name),Xl(s.state)+(s.reason?`: ${ke(s.reason)}`:""),`${s.slotsUsed??
0} of ${s.spec?.slots??0}`,(s.load??0).toFixed(1),(s.jobs??[]).join(", ")]})),$r(t))}showJobs(t){let s=t.
running.jobs??[],l=[...t.waiting.jobs??[]].reverse(),i=t.ended.jobs??[];this.running.show(s.map(u=>cs(
u,[Xl(u.state),st(B(u.totals?.supersteps)),Ge(B(u.runMs)*1e6)])),us(t.running,s.length)),this.waiting.
show(l.map(u=>cs(u,[ke(u.reason)])),us(t.waiting,l.length)),this.ended.show(i.map(u=>cs(u,[Xl(u.state),
Ge(B(u.runMs)*1e6)])),us(t.ended,i.length))}focus(t){this.box.querySelector(`a[href="#job=${t}"]`)?.
focus()}onKey(t){let s={ArrowDown:1,ArrowUp:-1}[t.key];if(s===void 0)return;let l=[...this.box.querySelectorAll(
"a[data-row]")],i=l[l.indexOf(document.activeElement)+s];i&&(t.preventDefault(),i.focus())}};var zr="uplot",Hr="u-hz",Fr="u-vt",Vr="u-title",Ir="u-wrap",Wr="u-under",Gr="u-over",Ur="u-axis",al="\
u-off",Br="u-select",Yr="u-cursor-x",Kr="u-cursor-y",Jr="u-cursor-pt",qr="u-legend",jr="u-live",Zr="\
u-inline",Qr="u-series",Xr="u-marker",_o="u-label",ea="u-value",tn="width",ln="height";var Eo="bottom",Cl="left",ps="right",As="#000",To=As+"0",hs="mousemove",Mo="mousedown",ds="mouseup",
Lo="mouseenter",Ao="mouseleave",Po="dblclick",ta="resize",la="scroll",Do="change",_n="dppxchange",Ps="\
--",Vl=typeof window<"u",xs=Vl?document:null,Rl=Vl?window:null,na=Vl?navigator:null,re,vn;function vs(){
let e=devicePixelRatio;re!=e&&(re=e,vn&&Ss(Do,vn,vs),vn=matchMedia(`(min-resolution: ${re-.001}dppx)\
 and (max-resolution: ${re+.001}dppx)`),ul(Do,vn,vs),Rl.dispatchEvent(new CustomEvent(_n)))}function ot(e,t){
if(t!=null){let s=e.classList;!s.contains(t)&&s.add(t)}}function ys(e,t){let s=e.classList;s.contains(
t)&&s.remove(t)}function be(e,t,s){e.style[t]=s+"px"}function St(e,t,s,l){let i=xs.createElement(e);
return t!=null&&ot(i,t),s?.insertBefore(i,l),i}function mt(e,t){return St("div",e,t)}var No=new WeakMap;
function Ot(e,t,s,l,i){let u="translate("+t+"px,"+s+"px)",c=No.get(e);u!=c&&(e.style.transform=u,No.
set(e,u),t<0||s<0||t>l||s>i?ot(e,al):ys(e,al))}var Co=new WeakMap;function Oo(e,t,s){let l=t+s,i=Co.
get(e);l!=i&&(Co.set(e,l),e.style.background=t,e.style.borderColor=s)}var Ro=new WeakMap;function $o(e,t,s,l){
let i=t+""+s,u=Ro.get(e);i!=u&&(Ro.set(e,i),e.style.height=s+"px",e.style.width=t+"px",e.style.marginLeft=
l?-t/2+"px":0,e.style.marginTop=l?-s/2+"px":0)}var Ds={passive:!0},sa={...Ds,capture:!0};function ul(e,t,s,l){
t.addEventListener(e,s,l?sa:Ds)}function Ss(e,t,s,l){t.removeEventListener(e,s,Ds)}Vl&&vs();function kt(e,t,s,l){
let i;s=s||0,l=l||t.length-1;let u=l<=2147483647;for(;l-s>1;)i=u?s+l>>1:it((s+l)/2),t[i]<e?s=i:l=i;return e-
t[s]<=t[l]-e?s:l}function ci(e){return(s,l,i)=>{let u=-1,c=-1;for(let p=l;p<=i;p++)if(e(s[p])){u=p;break}
for(let p=i;p>=l;p--)if(e(s[p])){c=p;break}return[u,c]}}var fi=e=>e!=null,pi=e=>e!=null&&e>0,Mn=ci(fi),
oa=ci(pi);function ia(e,t,s,l=0,i=!1){let u=i?oa:Mn,c=i?pi:fi;[t,s]=u(e,t,s);let p=e[t],h=e[t];if(t>
-1)if(l==1)p=e[t],h=e[s];else if(l==-1)p=e[s],h=e[t];else for(let m=t;m<=s;m++){let x=e[m];c(x)&&(x<
p?p=x:x>h&&(h=x))}return[p??pe,h??-pe]}function Ln(e,t,s,l){let i=Fo(e),u=Fo(t);e==t&&(i==-1?(e*=s,t/=
s):(e/=s,t*=s));let c=s==10?Ht:hi,p=i==1?it:gt,h=u==1?gt:it,m=p(c(Ne(e))),x=h(c(Ne(t))),g=$l(s,m),w=$l(
s,x);return s==10&&(m<0&&(g=he(g,-m)),x<0&&(w=he(w,-x))),l||s==2?(e=g*i,t=w*u):(e=wi(e,g),t=An(t,w)),
[e,t]}function Ns(e,t,s,l){let i=Ln(e,t,s,l);return e==0&&(i[0]=0),t==0&&(i[1]=0),i}var Cs=.1,zo={mode:3,
pad:Cs},sn={pad:0,soft:null,mode:0},ra={min:sn,max:sn};function En(e,t,s,l){return Pn(s)?Ho(e,t,s):(sn.
pad=s,sn.soft=l?0:null,sn.mode=l?3:0,Ho(e,t,ra))}function oe(e,t){return e??t}function aa(e,t,s){for(t=
oe(t,0),s=oe(s,e.length-1);t<=s;){if(e[t]!=null)return!0;t++}return!1}function Ho(e,t,s){let l=s.min,
i=s.max,u=oe(l.pad,0),c=oe(i.pad,0),p=oe(l.hard,-pe),h=oe(i.hard,pe),m=oe(l.soft,pe),x=oe(i.soft,-pe),
g=oe(l.mode,0),w=oe(i.mode,0),D=t-e,P=Ht(D),H=qe(Ne(e),Ne(t)),V=Ht(H),W=Ne(V-P);(D<1e-24||W>10)&&(D=
0,(e==0||t==0)&&(D=1e-24,g==2&&m!=pe&&(u=0),w==2&&x!=-pe&&(c=0)));let S=D||H||1e3,F=Ht(S),k=$l(10,it(
F)),j=S*(D==0?e==0?.1:1:u),A=he(wi(e-j,k/10),24),Z=e>=m&&(g==1||g==3&&A<=m||g==2&&A>=m)?m:pe,K=qe(p,
A<Z&&e>=Z?Z:_t(Z,A)),ee=S*(D==0?t==0?.1:1:c),Y=he(An(t+ee,k/10),24),_=t<=x&&(w==1||w==3&&Y>=x||w==2&&
Y<=x)?x:-pe,q=_t(h,Y>_&&t<=_?_:qe(_,Y));return K==q&&K==0&&(q=100),[K,q]}var ua=new Intl.NumberFormat(
Vl?na.language:"en-US"),Os=e=>ua.format(e),rt=Math,kn=rt.PI,Ne=rt.abs,it=rt.floor,De=rt.round,gt=rt.
ceil,_t=rt.min,qe=rt.max,$l=rt.pow,Fo=rt.sign,Ht=rt.log10,hi=rt.log2,ca=(e,t=1)=>rt.sinh(e)*t,ms=(e,t=1)=>rt.
asinh(e/t),pe=1/0;function Vo(e){return(Ht((e^e>>31)-(e>>31))|0)+1}function ks(e,t,s){return _t(qe(e,
t),s)}function di(e){return typeof e=="function"}function te(e){return di(e)?e:()=>e}var fa=()=>{},mi=e=>e,
gi=(e,t)=>t,pa=e=>null,Io=e=>!0,Wo=(e,t)=>e==t,ha=/\.\d*?(?=9{6,}|0{6,})/gm,cl=e=>{if(xi(e)||qt.has(
e))return e;let t=`${e}`,s=t.match(ha);if(s==null)return e;let l=s[0].length-1;if(t.indexOf("e-")!=-1){
let[i,u]=t.split("e");return+`${cl(i)}e${u}`}return he(e,l)};function il(e,t){return cl(he(cl(e/t))*
t)}function An(e,t){return cl(gt(cl(e/t))*t)}function wi(e,t){return cl(it(cl(e/t))*t)}function he(e,t=0){
if(xi(e))return e;let s=10**t,l=e*s*(1+Number.EPSILON);return De(l)/s}var qt=new Map;function bi(e){
return((""+e).split(".")[1]||"").length}function rn(e,t,s,l){let i=[],u=l.map(bi);for(let c=t;c<s;c++){
let p=Ne(c),h=he($l(e,c),p);for(let m=0;m<l.length;m++){let x=e==10?+`${l[m]}e${c}`:l[m]*h,g=(c>=0?0:
p)+(c>=u[m]?0:u[m]),w=e==10?x:he(x,g);i.push(w),qt.set(w,g)}}return i}var on={},Rs=[],zl=[null,null],
Jt=Array.isArray,xi=Number.isInteger,da=e=>e===void 0;function Go(e){return typeof e=="string"}function Pn(e){
let t=!1;if(e!=null){let s=e.constructor;t=s==null||s==Object}return t}function ma(e){return e!=null&&
typeof e=="object"}var ga=Object.getPrototypeOf(Uint8Array),vi="__proto__";function Hl(e,t=Pn){let s;
if(Jt(e)){let l=e.find(i=>i!=null);if(Jt(l)||t(l)){s=Array(e.length);for(let i=0;i<e.length;i++)s[i]=
Hl(e[i],t)}else s=e.slice()}else if(e instanceof ga)s=e.slice();else if(t(e)){s={};for(let l in e)l!=
vi&&(s[l]=Hl(e[l],t))}else s=e;return s}function Le(e){let t=arguments;for(let s=1;s<t.length;s++){let l=t[s];
for(let i in l)i!=vi&&(Pn(e[i])?Le(e[i],Hl(l[i])):e[i]=Hl(l[i]))}return e}var wa=0,ba=1,xa=2;function va(e,t,s){
for(let l=0,i,u=-1;l<t.length;l++){let c=t[l];if(c>u){for(i=c-1;i>=0&&e[i]==null;)e[i--]=null;for(i=
c+1;i<s&&e[i]==null;)e[u=i++]=null}}}function ya(e,t){if(_a(e)){let c=e[0].slice();for(let p=1;p<e.length;p++)
c.push(...e[p].slice(1));return Ea(c[0])||(c=ka(c)),c}let s=new Set;for(let c=0;c<e.length;c++){let h=e[c][0],
m=h.length;for(let x=0;x<m;x++)s.add(h[x])}let l=[Array.from(s).sort((c,p)=>c-p)],i=l[0].length,u=new Map;
for(let c=0;c<i;c++)u.set(l[0][c],c);for(let c=0;c<e.length;c++){let p=e[c],h=p[0];for(let m=1;m<p.length;m++){
let x=p[m],g=Array(i).fill(void 0),w=t?t[c][m]:ba,D=[];for(let P=0;P<x.length;P++){let H=x[P],V=u.get(
h[P]);H===null?w!=wa&&(g[V]=H,w==xa&&D.push(V)):g[V]=H}va(g,D,i),l.push(g)}}return l}var Sa=typeof queueMicrotask>
"u"?e=>Promise.resolve().then(e):queueMicrotask;function ka(e){let t=e[0],s=t.length,l=Array(s);for(let u=0;u<
l.length;u++)l[u]=u;l.sort((u,c)=>t[u]-t[c]);let i=[];for(let u=0;u<e.length;u++){let c=e[u],p=Array(
s);for(let h=0;h<s;h++)p[h]=c[l[h]];i.push(p)}return i}function _a(e){let t=e[0][0],s=t.length;for(let l=1;l<
e.length;l++){let i=e[l][0];if(i.length!=s)return!1;if(i!=t){for(let u=0;u<s;u++)if(i[u]!=t[u])return!1}}
return!0}function Ea(e,t=100){let s=e.length;if(s<=1)return!0;let l=0,i=s-1;for(;l<=i&&e[l]==null;)l++;
for(;i>=l&&e[i]==null;)i--;if(i<=l)return!0;let u=qe(1,it((i-l+1)/t));for(let c=e[l],p=l+u;p<=i;p+=u){
let h=e[p];if(h!=null){if(h<=c)return!1;c=h}}return!0}var yi=["January","February","March","April","\
May","June","July","August","September","October","November","December"],Si=["Sunday","Monday","Tues\
day","Wednesday","Thursday","Friday","Saturday"];function ki(e){return e.slice(0,3)}var Ta=Si.map(ki),
Ma=yi.map(ki),La={MMMM:yi,MMM:Ma,WWWW:Si,WWW:Ta};function en(e){return(e<10?"0":"")+e}function Aa(e){
return(e<10?"00":e<100?"0":"")+e}var Pa={YYYY:e=>e.getFullYear(),YY:e=>(e.getFullYear()+"").slice(2),
MMMM:(e,t)=>t.MMMM[e.getMonth()],MMM:(e,t)=>t.MMM[e.getMonth()],MM:e=>en(e.getMonth()+1),M:e=>e.getMonth()+
1,DD:e=>en(e.getDate()),D:e=>e.getDate(),WWWW:(e,t)=>t.WWWW[e.getDay()],WWW:(e,t)=>t.WWW[e.getDay()],
HH:e=>en(e.getHours()),H:e=>e.getHours(),h:e=>{let t=e.getHours();return t==0?12:t>12?t-12:t},AA:e=>e.
getHours()>=12?"PM":"AM",aa:e=>e.getHours()>=12?"pm":"am",a:e=>e.getHours()>=12?"p":"a",mm:e=>en(e.getMinutes()),
m:e=>e.getMinutes(),ss:e=>en(e.getSeconds()),s:e=>e.getSeconds(),fff:e=>Aa(e.getMilliseconds())};function $s(e,t){
t=t||La;let s=[],l=/\{([a-z]+)\}|[^{]+/gi,i;for(;i=l.exec(e);)s.push(i[0][0]=="{"?Pa[i[1]]:i[0]);return u=>{
let c="";for(let p=0;p<s.length;p++)c+=typeof s[p]=="string"?s[p]:s[p](u,t);return c}}var Da=new Intl.
DateTimeFormat().resolvedOptions().timeZone;function Na(e,t){let s;return t=="UTC"||t=="Etc/UTC"?s=new Date(
+e+e.getTimezoneOffset()*6e4):t==Da?s=e:(s=new Date(e.toLocaleString("en-US",{timeZone:t})),s.setMilliseconds(
e.getMilliseconds())),s}var _i=e=>e%1==0,Tn=[1,2,2.5,5],Ca=rn(10,-32,0,Tn),Ei=rn(10,0,32,Tn),Oa=Ei.filter(
_i),rl=Ca.concat(Ei),zs=`
`,Ti="{YYYY}",Uo=zs+Ti,Mi="{M}/{D}",nn=zs+Mi,yn=nn+"/{YY}",Li="{aa}",Ra="{h}:{mm}",Ol=Ra+Li,Bo=zs+Ol,
Yo=":{ss}",ue=null;function Ai(e){let t=e*1e3,s=t*60,l=s*60,i=l*24,u=i*30,c=i*365,h=(e==1?rn(10,0,3,
Tn).filter(_i):rn(10,-3,0,Tn)).concat([t,t*5,t*10,t*15,t*30,s,s*5,s*10,s*15,s*30,l,l*2,l*3,l*4,l*6,l*
8,l*12,i,i*2,i*3,i*4,i*5,i*6,i*7,i*8,i*9,i*10,i*15,u,u*2,u*3,u*4,u*6,c,c*2,c*5,c*10,c*25,c*50,c*100]),
m=[[c,Ti,ue,ue,ue,ue,ue,ue,1],[i*28,"{MMM}",Uo,ue,ue,ue,ue,ue,1],[i,Mi,Uo,ue,ue,ue,ue,ue,1],[l,"{h}"+
Li,yn,ue,nn,ue,ue,ue,1],[s,Ol,yn,ue,nn,ue,ue,ue,1],[t,Yo,yn+" "+Ol,ue,nn+" "+Ol,ue,Bo,ue,1],[e,Yo+".\
{fff}",yn+" "+Ol,ue,nn+" "+Ol,ue,Bo,ue,1]];function x(g){return(w,D,P,H,V,W)=>{let S=[],F=V>=c,k=V>=
u&&V<c,j=g(P),A=he(j*e,3),Z=gs(j.getFullYear(),F?0:j.getMonth(),k||F?1:j.getDate()),K=he(Z*e,3);if(k||
F){let ee=k?V/u:0,Y=F?V/c:0,_=A==K?A:he(gs(Z.getFullYear()+Y,Z.getMonth()+ee,1)*e,3),q=new Date(De(_/
e)),C=q.getFullYear(),G=q.getMonth();for(let z=0;_<=H;z++){let le=gs(C+Y*z,G+ee*z,1),$=le-g(he(le*e,
3));_=he((+le+$)*e,3),_<=H&&S.push(_)}}else{let ee=V>=i?i:V,Y=it(P)-it(A),_=K+Y+An(A-K,ee);S.push(_);
let q=g(_),C=q.getHours()+q.getMinutes()/s+q.getSeconds()/l,G=V/l,z=w.axes[D]._space,le=W/z;for(;_=he(
_+V,e==1?0:3),!(_>H);)if(G>1){let $=it(he(C+G,6))%24,ne=g(_).getHours()-$;ne>1&&(ne=-1),_-=ne*l,C=(C+
G)%24;let ce=S[S.length-1];he((_-ce)/V,3)*le>=.7&&S.push(_)}else S.push(_)}return S}}return[h,m,x]}var[
$a,za,Ha]=Ai(1),[Fa,Va,Ia]=Ai(.001);rn(2,-53,53,[1]);function Ko(e,t){return e.map(s=>s.map((l,i)=>i==
0||i==8||l==null?l:t(i==1||s[8]==0?l:s[1]+l)))}function Jo(e,t){return(s,l,i,u,c)=>{let p=t.find(P=>c>=
P[0])||t[t.length-1],h,m,x,g,w,D;return l.map(P=>{let H=e(P),V=H.getFullYear(),W=H.getMonth(),S=H.getDate(),
F=H.getHours(),k=H.getMinutes(),j=H.getSeconds(),A=V!=h&&p[2]||W!=m&&p[3]||S!=x&&p[4]||F!=g&&p[5]||k!=
w&&p[6]||j!=D&&p[7]||p[1];return h=V,m=W,x=S,g=F,w=k,D=j,A(H)})}}function Wa(e,t){let s=$s(t);return(l,i,u,c,p)=>i.
map(h=>s(e(h)))}function gs(e,t,s){return new Date(e,t,s)}function qo(e,t){return t(e)}var Ga="{YYYY\
}-{MM}-{DD} {h}:{mm}{aa}";function jo(e,t){return(s,l,i,u)=>u==null?Ps:t(e(l))}function Ua(e,t){let s=e.
series[t];return s.width?s.stroke(e,t):s.points.width?s.points.stroke(e,t):null}function Ba(e,t){return e.
series[t].fill(e,t)}var Ya={show:!0,live:!0,isolate:!1,mount:fa,markers:{show:!0,width:2,stroke:Ua,fill:Ba,
dash:"solid"},idx:null,idxs:null,values:[]};function Ka(e,t){let s=e.cursor.points,l=mt(),i=s.size(e,
t);be(l,tn,i),be(l,ln,i);let u=i/-2;be(l,"marginLeft",u),be(l,"marginTop",u);let c=s.width(e,t,i);return c&&
be(l,"borderWidth",c),l}function Ja(e,t){let s=e.series[t].points;return s._fill||s._stroke}function qa(e,t){
let s=e.series[t].points;return s._stroke||s._fill}function ja(e,t){return e.series[t].points.size}var ws=[
0,0];function Za(e,t,s){return ws[0]=t,ws[1]=s,ws}function Sn(e,t,s,l=!0){return i=>{i.button==0&&(!l||
i.target==t)&&s(i)}}function bs(e,t,s,l=!0){return i=>{(!l||i.target==t)&&s(i)}}var Qa={show:!0,x:!0,
y:!0,lock:!1,move:Za,points:{one:!1,show:Ka,size:ja,width:0,stroke:qa,fill:Ja},bind:{mousedown:Sn,mouseup:Sn,
click:Sn,dblclick:Sn,mousemove:bs,mouseleave:bs,mouseenter:bs},drag:{setScale:!0,x:!0,y:!1,dist:0,uni:null,
click:(e,t)=>{t.stopPropagation(),t.stopImmediatePropagation()},_x:!1,_y:!1},focus:{dist:(e,t,s,l,i)=>l-
i,prox:-1,bias:0},hover:{skip:[void 0],prox:null,bias:0},left:-10,top:-10,idx:null,dataIdx:null,idxs:null,
event:null},Pi={show:!0,stroke:"rgba(0,0,0,0.07)",width:2},Hs=Le({},Pi,{filter:gi}),Di=Le({},Hs,{size:10}),
Ni=Le({},Pi,{show:!1}),Fs='12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Aria\
l, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Em\
oji"',Ci="bold "+Fs,Oi=1.5,Zo={show:!0,scale:"x",stroke:As,space:50,gap:5,alignTo:1,size:50,labelGap:0,
labelSize:30,labelFont:Ci,side:2,grid:Hs,ticks:Di,border:Ni,font:Fs,lineGap:Oi,rotate:0},Xa="Value",
eu="Time",Qo={show:!0,scale:"x",auto:!1,sorted:1,min:pe,max:-pe,idxs:[]};function tu(e,t,s,l,i){return t.
map(u=>u==null?"":Os(u))}function lu(e,t,s,l,i,u,c){let p=[],h=qt.get(i)||0;s=c?s:he(An(s,i),h);for(let m=s;m<=
l;m=he(m+i,h))p.push(Object.is(m,-0)?0:m);return p}function _s(e,t,s,l,i,u,c){let p=[],h=e.scales[e.
axes[t].scale].log,m=h==10?Ht:hi,x=it(m(s));i=$l(h,x),h==10&&(i=rl[kt(i,rl)]);let g=s,w=i*h;h==10&&(w=
rl[kt(w,rl)]);do p.push(g),g=g+i,h==10&&!qt.has(g)&&(g=he(g,qt.get(i))),g>=w&&(i=g,w=i*h,h==10&&(w=rl[kt(
w,rl)]));while(g<=l);return p}function nu(e,t,s,l,i,u,c){let h=e.scales[e.axes[t].scale].asinh,m=l>h?
_s(e,t,qe(h,s),l,i):[h],x=l>=0&&s<=0?[0]:[];return(s<-h?_s(e,t,qe(h,-l),-s,i):[h]).reverse().map(w=>-w).
concat(x,m)}var Ri=/./,su=/[12357]/,ou=/[125]/,Xo=/1/,Es=(e,t,s,l)=>e.map((i,u)=>t==4&&i==0||u%l==0&&
s.test(i.toExponential()[i<0?1:0])?i:null);function iu(e,t,s,l,i){let u=e.axes[s],c=u.scale,p=e.scales[c],
h=e.valToPos,m=u._space,x=h(10,c),g=h(9,c)-x>=m?Ri:h(7,c)-x>=m?su:h(5,c)-x>=m?ou:Xo;if(g==Xo){let w=Ne(
h(1,c)-x);if(w<m)return Es(t.slice().reverse(),p.distr,g,gt(m/w)).reverse()}return Es(t,p.distr,g,1)}
function ru(e,t,s,l,i){let u=e.axes[s],c=u.scale,p=u._space,h=e.valToPos,m=Ne(h(1,c)-h(2,c));return m<
p?Es(t.slice().reverse(),3,Ri,gt(p/m)).reverse():t}function au(e,t,s,l){return l==null?Ps:t==null?"":
Os(t)}var ei={show:!0,scale:"y",stroke:As,space:30,gap:5,alignTo:1,size:50,labelGap:0,labelSize:30,labelFont:Ci,
side:3,grid:Hs,ticks:Di,border:Ni,font:Fs,lineGap:Oi,rotate:0};function uu(e,t){let s=3+(e||1)*2;return he(
s*t,3)}function cu(e,t){let{scale:s,idxs:l}=e.series[0],i=e._data[0],u=e.valToPos(i[l[0]],s,!0),c=e.
valToPos(i[l[1]],s,!0),p=Ne(c-u),h=e.series[t],m=p/(h.points.space*re);return l[1]-l[0]<=m}var ti={scale:null,
auto:!0,sorted:0,min:pe,max:-pe},$i=(e,t,s,l,i)=>i,li={show:!0,auto:!0,sorted:0,gaps:$i,alpha:1,facets:[
Le({},ti,{scale:"x"}),Le({},ti,{scale:"y"})]},ni={scale:"y",auto:!0,sorted:0,show:!0,spanGaps:!1,gaps:$i,
alpha:1,points:{show:cu,filter:null},values:null,min:pe,max:-pe,idxs:[],path:null,clip:null};function fu(e,t,s,l,i){
return s/10}var zi={time:!0,auto:!0,distr:1,log:10,asinh:1,min:null,max:null,dir:1,ori:0},pu=Le({},zi,
{time:!1,ori:1}),si={};function Hi(e,t){let s=si[e];return s||(s={key:e,plots:[],sub(l){s.plots.push(
l)},unsub(l){s.plots=s.plots.filter(i=>i!=l)},pub(l,i,u,c,p,h,m){for(let x=0;x<s.plots.length;x++)s.
plots[x]!=i&&s.plots[x].pub(l,i,u,c,p,h,m)}},e!=null&&(si[e]=s)),s}var Fl=1,Ts=2;function fl(e,t,s){
let l=e.mode,i=e.series[t],u=l==2?e._data[t]:e._data,c=e.scales,p=e.bbox,h=u[0],m=l==2?u[1]:u[t],x=l==
2?c[i.facets[0].scale]:c[e.series[0].scale],g=l==2?c[i.facets[1].scale]:c[i.scale],w=p.left,D=p.top,
P=p.width,H=p.height,V=e.valToPosH,W=e.valToPosV;return x.ori==0?s(i,h,m,x,g,V,W,w,D,P,H,Nn,Il,On,Vi,
Wi):s(i,h,m,x,g,W,V,D,w,H,P,Cn,Wl,Ws,Ii,Gi)}function Vs(e,t){let s=0,l=0,i=oe(e.bands,Rs);for(let u=0;u<
i.length;u++){let c=i[u];c.series[0]==t?s=c.dir:c.series[1]==t&&(c.dir==1?l|=1:l|=2)}return[s,l==1?-1:
l==2?1:l==3?2:0]}function hu(e,t,s,l,i){let u=e.mode,c=e.series[t],p=u==2?c.facets[1].scale:c.scale,
h=e.scales[p];return i==-1?h.min:i==1?h.max:h.distr==3?h.dir==1?h.min:h.max:0}function Ft(e,t,s,l,i,u){
return fl(e,t,(c,p,h,m,x,g,w,D,P,H,V)=>{let W=c.pxRound,S=m.dir*(m.ori==0?1:-1),F=m.ori==0?Il:Wl,k,j;
S==1?(k=s,j=l):(k=l,j=s);let A=W(g(p[k],m,H,D)),Z=W(w(h[k],x,V,P)),K=W(g(p[j],m,H,D)),ee=W(w(u==1?x.
max:x.min,x,V,P)),Y=new Path2D(i);return F(Y,K,ee),F(Y,A,ee),F(Y,A,Z),Y})}function Dn(e,t,s,l,i,u){let c=null;
if(e.length>0){c=new Path2D;let p=t==0?On:Ws,h=s;for(let g=0;g<e.length;g++){let w=e[g];if(w[1]>w[0]){
let D=w[0]-h;D>0&&p(c,h,l,D,l+u),h=w[1]}}let m=s+i-h,x=10;m>0&&p(c,h,l-x/2,m,l+u+x)}return c}function du(e,t,s){
let l=e[e.length-1];l&&l[0]==t?l[1]=s:e.push([t,s])}function Is(e,t,s,l,i,u,c){let p=[],h=e.length;for(let m=i==
1?s:l;m>=s&&m<=l;m+=i)if(t[m]===null){let g=m,w=m;if(i==1)for(;++m<=l&&t[m]===null;)w=m;else for(;--m>=
s&&t[m]===null;)w=m;let D=u(e[g]),P=w==g?D:u(e[w]),H=g-i;D=c<=0&&H>=0&&H<h?u(e[H]):D;let W=w+i;P=c>=
0&&W>=0&&W<h?u(e[W]):P,P>=D&&p.push([D,P])}return p}function oi(e){return e==0?mi:e==1?De:t=>il(t,e)}
function Fi(e){let t=e==0?Nn:Cn,s=e==0?(i,u,c,p,h,m)=>{i.arcTo(u,c,p,h,m)}:(i,u,c,p,h,m)=>{i.arcTo(c,
u,h,p,m)},l=e==0?(i,u,c,p,h)=>{i.rect(u,c,p,h)}:(i,u,c,p,h)=>{i.rect(c,u,h,p)};return(i,u,c,p,h,m=0,x=0)=>{
m==0&&x==0?l(i,u,c,p,h):(m=_t(m,p/2,h/2),x=_t(x,p/2,h/2),t(i,u+m,c),s(i,u+p,c,u+p,c+h,m),s(i,u+p,c+h,
u,c+h,x),s(i,u,c+h,u,c,x),s(i,u,c,u+p,c,m),i.closePath())}}var Nn=(e,t,s)=>{e.moveTo(t,s)},Cn=(e,t,s)=>{
e.moveTo(s,t)},Il=(e,t,s)=>{e.lineTo(t,s)},Wl=(e,t,s)=>{e.lineTo(s,t)},On=Fi(0),Ws=Fi(1),Vi=(e,t,s,l,i,u)=>{
e.arc(t,s,l,i,u)},Ii=(e,t,s,l,i,u)=>{e.arc(s,t,l,i,u)},Wi=(e,t,s,l,i,u,c)=>{e.bezierCurveTo(t,s,l,i,
u,c)},Gi=(e,t,s,l,i,u,c)=>{e.bezierCurveTo(s,t,i,l,c,u)};function Ui(e){return(t,s,l,i,u)=>fl(t,s,(c,p,h,m,x,g,w,D,P,H,V)=>{
let{pxRound:W,points:S}=c,F,k;m.ori==0?(F=Nn,k=Vi):(F=Cn,k=Ii);let j=he(S.width*re,3),A=(S.size-S.width)/
2*re,Z=he(A*2,3),K=new Path2D,ee=new Path2D,{left:Y,top:_,width:q,height:C}=t.bbox;On(ee,Y-Z,_-Z,q+Z*
2,C+Z*2);let G=z=>{if(h[z]!=null){let le=W(g(p[z],m,H,D)),$=W(w(h[z],x,V,P));F(K,le+A,$),k(K,le,$,A,
0,kn*2)}};if(u)u.forEach(G);else for(let z=l;z<=i;z++)G(z);return{stroke:j>0?K:null,fill:K,clip:ee,flags:Fl|
Ts}})}function Bi(e){return(t,s,l,i,u,c)=>{l!=i&&(u!=l&&c!=l&&e(t,s,l),u!=i&&c!=i&&e(t,s,i),e(t,s,c))}}
var mu=Bi(Il),gu=Bi(Wl);function Yi(e){let t=oe(e?.alignGaps,0);return(s,l,i,u)=>fl(s,l,(c,p,h,m,x,g,w,D,P,H,V)=>{
[i,u]=Mn(h,i,u);let W=c.pxRound,S=C=>W(g(C,m,H,D)),F=C=>W(w(C,x,V,P)),k,j;m.ori==0?(k=Il,j=mu):(k=Wl,
j=gu);let A=m.dir*(m.ori==0?1:-1),Z={stroke:new Path2D,fill:null,clip:null,band:null,gaps:null,flags:Fl},
K=Z.stroke,ee=!1;if(u-i>=H*4){let C=O=>s.posToVal(O,m.key,!0),G=null,z=null,le,$,je,xe=S(p[A==1?i:u]),
ne=S(p[i]),ce=S(p[u]),Q=C(A==1?ne+1:ce-1);for(let O=A==1?i:u;O>=i&&O<=u;O+=A){let Ae=p[O],ve=(A==1?Ae<
Q:Ae>Q)?xe:S(Ae),ae=h[O];ve==xe?ae!=null?($=ae,G==null?(k(K,ve,F($)),le=G=z=$):$<G?G=$:$>z&&(z=$)):ae===
null&&(ee=!0):(G!=null&&j(K,xe,F(G),F(z),F(le),F($)),ae!=null?($=ae,k(K,ve,F($)),G=z=le=$):(G=z=null,
ae===null&&(ee=!0)),xe=ve,Q=C(xe+A))}G!=null&&G!=z&&je!=xe&&j(K,xe,F(G),F(z),F(le),F($))}else for(let C=A==
1?i:u;C>=i&&C<=u;C+=A){let G=h[C];G===null?ee=!0:G!=null&&k(K,S(p[C]),F(G))}let[_,q]=Vs(s,l);if(c.fill!=
null||_!=0){let C=Z.fill=new Path2D(K),G=c.fillTo(s,l,c.min,c.max,_),z=F(G),le=S(p[i]),$=S(p[u]);A==
-1&&([$,le]=[le,$]),k(C,$,z),k(C,le,z)}if(!c.spanGaps){let C=[];ee&&C.push(...Is(p,h,i,u,A,S,t)),Z.gaps=
C=c.gaps(s,l,i,u,C),Z.clip=Dn(C,m.ori,D,P,H,V)}return q!=0&&(Z.band=q==2?[Ft(s,l,i,u,K,-1),Ft(s,l,i,
u,K,1)]:Ft(s,l,i,u,K,q)),Z})}function wu(e){let t=oe(e.align,1),s=oe(e.ascDesc,!1),l=oe(e.alignGaps,
0),i=oe(e.extend,!1);return(u,c,p,h)=>fl(u,c,(m,x,g,w,D,P,H,V,W,S,F)=>{[p,h]=Mn(g,p,h);let k=m.pxRound,
{left:j,width:A}=u.bbox,Z=ne=>k(P(ne,w,S,V)),K=ne=>k(H(ne,D,F,W)),ee=w.ori==0?Il:Wl,Y={stroke:new Path2D,
fill:null,clip:null,band:null,gaps:null,flags:Fl},_=Y.stroke,q=w.dir*(w.ori==0?1:-1),C=K(g[q==1?p:h]),
G=Z(x[q==1?p:h]),z=G,le=G;i&&t==-1&&(le=j,ee(_,le,C)),ee(_,G,C);for(let ne=q==1?p:h;ne>=p&&ne<=h;ne+=
q){let ce=g[ne];if(ce==null)continue;let Q=Z(x[ne]),O=K(ce);t==1?ee(_,Q,C):ee(_,z,O),ee(_,Q,O),C=O,z=
Q}let $=z;i&&t==1&&($=j+A,ee(_,$,C));let[je,xe]=Vs(u,c);if(m.fill!=null||je!=0){let ne=Y.fill=new Path2D(
_),ce=m.fillTo(u,c,m.min,m.max,je),Q=K(ce);ee(ne,$,Q),ee(ne,le,Q)}if(!m.spanGaps){let ne=[];ne.push(
...Is(x,g,p,h,q,Z,l));let ce=m.width*re/2,Q=s||t==1?ce:-ce,O=s||t==-1?-ce:ce;ne.forEach(Ae=>{Ae[0]+=
Q,Ae[1]+=O}),Y.gaps=ne=m.gaps(u,c,p,h,ne),Y.clip=Dn(ne,w.ori,V,W,S,F)}return xe!=0&&(Y.band=xe==2?[Ft(
u,c,p,h,_,-1),Ft(u,c,p,h,_,1)]:Ft(u,c,p,h,_,xe)),Y})}function ii(e,t,s,l,i,u,c=pe){if(e.length>1){let p=null;
for(let h=0,m=1/0;h<e.length;h++)if(t[h]!==void 0){if(p!=null){let x=Ne(e[h]-e[p]);x<m&&(m=x,c=Ne(s(
e[h],l,i,u)-s(e[p],l,i,u)))}p=h}}return c}function bu(e){e=e||on;let t=oe(e.size,[.6,pe,1]),s=e.align||
0,l=e.gap||0,i=e.radius;i=i==null?[0,0]:typeof i=="number"?[i,0]:i;let u=te(i),c=1-t[0],p=oe(t[1],pe),
h=oe(t[2],1),m=oe(e.disp,on),x=oe(e.each,D=>{}),{fill:g,stroke:w}=m;return(D,P,H,V)=>fl(D,P,(W,S,F,k,j,A,Z,K,ee,Y,_)=>{
let q=W.pxRound,C=s,G=l*re,z=p*re,le=h*re,$,je;k.ori==0?[$,je]=u(D,P):[je,$]=u(D,P);let xe=k.dir*(k.
ori==0?1:-1),ne=k.ori==0?On:Ws,ce=k.ori==0?x:(M,de,Pe,gl,Qt,Tt,Xt)=>{x(M,de,Pe,Qt,gl,Xt,Tt)},Q=oe(D.
bands,Rs).find(M=>M.series[0]==P),O=Q!=null?Q.dir:0,Ae=W.fillTo(D,P,W.min,W.max,O),Ue=q(Z(Ae,j,_,ee)),
ve,ae,wt,Xe=Y,_e=q(W.width*re),Et=!1,Rt=null,ut=null,It=null,hl=null;g!=null&&(_e==0||w!=null)&&(Et=
!0,Rt=g.values(D,P,H,V),ut=new Map,new Set(Rt).forEach(M=>{M!=null&&ut.set(M,new Path2D)}),_e>0&&(It=
w.values(D,P,H,V),hl=new Map,new Set(It).forEach(M=>{M!=null&&hl.set(M,new Path2D)})));let{x0:dl,size:Ul}=m;
if(dl!=null&&Ul!=null){C=1,S=dl.values(D,P,H,V),dl.unit==2&&(S=S.map(Pe=>D.posToVal(K+Pe*Y,k.key,!0)));
let M=Ul.values(D,P,H,V);Ul.unit==2?ae=M[0]*Y:ae=A(M[0],k,Y,K)-A(0,k,Y,K),Xe=ii(S,F,A,k,Y,K,Xe),wt=Xe-
ae+G}else Xe=ii(S,F,A,k,Y,K,Xe),wt=Xe*c+G,ae=Xe-wt;wt<1&&(wt=0),_e>=ae/2&&(_e=0),wt<5&&(q=mi);let an=wt>
0,jt=Xe-wt-(an?_e:0);ae=q(ks(jt,le,z)),ve=(C==0?ae/2:C==xe?0:ae)-C*xe*((C==0?G/2:0)+(an?_e/2:0));let Be={
stroke:null,fill:null,clip:null,band:null,gaps:null,flags:0},ml=Et?null:new Path2D,$t=null;if(Q!=null)
$t=D.data[Q.series[1]];else{let{y0:M,y1:de}=m;M!=null&&de!=null&&(F=de.values(D,P,H,V),$t=M.values(D,
P,H,V))}let Zt=$*ae,J=je*ae;for(let M=xe==1?H:V;M>=H&&M<=V;M+=xe){let de=F[M];if(de==null)continue;if($t!=
null){let Ze=$t[M]??0;if(de-Ze==0)continue;Ue=Z(Ze,j,_,ee)}let Pe=k.distr!=2||m!=null?S[M]:M,gl=A(Pe,
k,Y,K),Qt=Z(oe(de,Ae),j,_,ee),Tt=q(gl-ve),Xt=q(qe(Qt,Ue)),et=q(_t(Qt,Ue)),ct=Xt-et;if(de!=null){let Ze=de<
0?J:Zt,bt=de<0?Zt:J;Et?(_e>0&&It[M]!=null&&ne(hl.get(It[M]),Tt,et+it(_e/2),ae,qe(0,ct-_e),Ze,bt),Rt[M]!=
null&&ne(ut.get(Rt[M]),Tt,et+it(_e/2),ae,qe(0,ct-_e),Ze,bt)):ne(ml,Tt,et+it(_e/2),ae,qe(0,ct-_e),Ze,
bt),ce(D,P,M,Tt-_e/2,et,ae+_e,ct)}}return _e>0?Be.stroke=Et?hl:ml:Et||(Be._fill=W.width==0?W._fill:W.
_stroke??W._fill,Be.width=0),Be.fill=Et?ut:ml,Be})}function xu(e,t){let s=oe(t?.alignGaps,0);return(l,i,u,c)=>fl(
l,i,(p,h,m,x,g,w,D,P,H,V,W)=>{[u,c]=Mn(m,u,c);let S=p.pxRound,F=$=>S(w($,x,V,P)),k=$=>S(D($,g,W,H)),
j,A,Z;x.ori==0?(j=Nn,Z=Il,A=Wi):(j=Cn,Z=Wl,A=Gi);let K=x.dir*(x.ori==0?1:-1),ee=F(h[K==1?u:c]),Y=ee,
_=[],q=[];for(let $=K==1?u:c;$>=u&&$<=c;$+=K)if(m[$]!=null){let xe=h[$],ne=F(xe);_.push(Y=ne),q.push(
k(m[$]))}let C={stroke:e(_,q,j,Z,A,S),fill:null,clip:null,band:null,gaps:null,flags:Fl},G=C.stroke,[
z,le]=Vs(l,i);if(p.fill!=null||z!=0){let $=C.fill=new Path2D(G),je=p.fillTo(l,i,p.min,p.max,z),xe=k(
je);Z($,Y,xe),Z($,ee,xe)}if(!p.spanGaps){let $=[];$.push(...Is(h,m,u,c,K,F,s)),C.gaps=$=p.gaps(l,i,u,
c,$),C.clip=Dn($,x.ori,P,H,V,W)}return le!=0&&(C.band=le==2?[Ft(l,i,u,c,G,-1),Ft(l,i,u,c,G,1)]:Ft(l,
i,u,c,G,le)),C})}function vu(e){return xu(yu,e)}function yu(e,t,s,l,i,u){let c=e.length;if(c<2)return null;
let p=new Path2D;if(s(p,e[0],t[0]),c==2)l(p,e[1],t[1]);else{let h=Array(c),m=Array(c-1),x=Array(c-1),
g=Array(c-1);for(let w=0;w<c-1;w++)x[w]=t[w+1]-t[w],g[w]=e[w+1]-e[w],m[w]=x[w]/g[w];h[0]=m[0];for(let w=1;w<
c-1;w++)m[w]===0||m[w-1]===0||m[w-1]>0!=m[w]>0?h[w]=0:(h[w]=3*(g[w-1]+g[w])/((2*g[w]+g[w-1])/m[w-1]+
(g[w]+2*g[w-1])/m[w]),isFinite(h[w])||(h[w]=0));h[c-1]=m[c-2];for(let w=0;w<c-1;w++)i(p,e[w]+g[w]/3,
t[w]+h[w]*g[w]/3,e[w+1]-g[w]/3,t[w+1]-h[w+1]*g[w]/3,e[w+1],t[w+1])}return p}var Ms=new Set;function ri(){
for(let e of Ms)e.syncRect(!0)}Vl&&(ul(ta,Rl,ri),ul(la,Rl,ri,!0),ul(_n,Rl,()=>{Ie.pxRatio=re}));var Su=Yi(),
ku=Ui();function ai(e,t,s,l){return(l?[e[0],e[1]].concat(e.slice(2)):[e[0]].concat(e.slice(1))).map(
(u,c)=>Ls(u,c,t,s))}function _u(e,t){return e.map((s,l)=>l==0?{}:Le({},t,s))}function Ls(e,t,s,l){return Le(
{},t==0?s:l,e)}function Ki(e,t,s){return t==null?zl:[t,s]}var Eu=Ki;function Tu(e,t,s){return t==null?
zl:En(t,s,Cs,!0)}function Ji(e,t,s,l){return t==null?zl:Ln(t,s,e.scales[l].log,!1)}var Mu=Ji;function qi(e,t,s,l){
return t==null?zl:Ns(t,s,e.scales[l].log,!1)}var Lu=qi;function Au(e,t,s,l,i){let u=qe(Vo(e),Vo(t)),
c=t-e,p=kt(i/l*c,s);do{let h=s[p],m=l*h/c;if(m>=i&&u+(h<5?qt.get(h):0)<=17)return[h,m]}while(++p<s.length);
return[0,0]}function ui(e){let t,s;return e=e.replace(/(\d+)px/,(l,i)=>(t=De((s=+i)*re))+"px"),[e,t,
s]}function Pu(e){e.show&&[e.font,e.labelFont].forEach(t=>{let s=he(t[2]*re,1);t[0]=t[0].replace(/[0-9.]+px/,
s+"px"),t[1]=s})}function Ie(e,t,s){let l={mode:oe(e.mode,1)},i=l.mode;function u(n,o,r,a){let f=o.valToPct(
n);return a+r*(o.dir==-1?1-f:f)}function c(n,o,r,a){let f=o.valToPct(n);return a+r*(o.dir==-1?f:1-f)}
function p(n,o,r,a){return o.ori==0?u(n,o,r,a):c(n,o,r,a)}l.valToPosH=u,l.valToPosV=c;let h=!1;l.status=
0;let m=l.root=mt(zr);if(e.id!=null&&(m.id=e.id),ot(m,e.class),e.title){let n=mt(Vr,m);n.textContent=
e.title}let x=St("canvas"),g=l.ctx=x.getContext("2d"),w=mt(Ir,m);ul("click",w,n=>{n.target===P&&(me!=
Ml||ye!=Ll)&&Ve.click(l,n)},!0);let D=l.under=mt(Wr,w);w.appendChild(x);let P=l.over=mt(Gr,w);e=Hl(e);
let H=+oe(e.pxAlign,1),V=oi(H);(e.plugins||[]).forEach(n=>{n.opts&&(e=n.opts(l,e)||e)});let W=e.ms||
.001,S=l.series=i==1?ai(e.series||[],Qo,ni,!1):_u(e.series||[null],li),F=l.axes=ai(e.axes||[],Zo,ei,
!0),k=l.scales={},j=l.bands=e.bands||[];j.forEach(n=>{n.fill=te(n.fill||null),n.dir=oe(n.dir,-1)});let A=i==
2?S[1].facets[0].scale:S[0].scale,Z={axes:xr,series:dr},K=(e.drawOrder||["axes","series"]).map(n=>Z[n]);
function ee(n){let o=n.distr==3?r=>Ht(r>0?r:n.clamp(l,r,n.min,n.max,n.key)):n.distr==4?r=>ms(r,n.asinh):
n.distr==100?r=>n.fwd(r):r=>r;return r=>{let a=o(r),{_min:f,_max:d}=n,b=d-f;return(a-f)/b}}function Y(n){
let o=k[n];if(o==null){let r=(e.scales||on)[n]||on;if(r.from!=null){Y(r.from);let a=Le({},k[r.from],
r,{key:n});a.valToPct=ee(a),k[n]=a}else{o=k[n]=Le({},n==A?zi:pu,r),o.key=n;let a=o.time,f=o.range,d=Jt(
f);if((n!=A||i==2&&!a)&&(d&&(f[0]==null||f[1]==null)&&(f={min:f[0]==null?zo:{mode:1,hard:f[0],soft:f[0]},
max:f[1]==null?zo:{mode:1,hard:f[1],soft:f[1]}},d=!1),!d&&Pn(f))){let b=f;f=(v,y,E)=>y==null?zl:En(y,
E,b)}o.range=te(f||(a?Eu:n==A?o.distr==3?Mu:o.distr==4?Lu:Ki:o.distr==3?Ji:o.distr==4?qi:Tu)),o.auto=
te(d?!1:o.auto),o.clamp=te(o.clamp||fu),o._min=o._max=null,o.valToPct=ee(o)}}}Y("x"),Y("y"),i==1&&S.
forEach(n=>{Y(n.scale)}),F.forEach(n=>{Y(n.scale)});for(let n in e.scales)Y(n);let _=k[A],q=_.distr,
C,G;_.ori==0?(ot(m,Hr),C=u,G=c):(ot(m,Fr),C=c,G=u);let z={};for(let n in k){let o=k[n];(o.min!=null||
o.max!=null)&&(z[n]={min:o.min,max:o.max},o.min=o.max=null)}let le=e.tzDate||(n=>new Date(De(n/W))),
$=e.fmtDate||$s,je=W==1?Ha(le):Ia(le),xe=Jo(le,Ko(W==1?za:Va,$)),ne=jo(le,qo(Ga,$)),ce=[],Q=l.legend=
Le({},Ya,e.legend),O=l.cursor=Le({},Qa,{drag:{y:i==2}},e.cursor),Ae=Q.show,Ue=O.show,ve=Q.markers;Q.
idxs=ce,ve.width=te(ve.width),ve.dash=te(ve.dash),ve.stroke=te(ve.stroke),ve.fill=te(ve.fill);let ae,
wt,Xe,_e=[],Et=[],Rt,ut=!1,It={};if(Q.live){let n=S[1]?S[1].values:null;ut=n!=null,Rt=ut?n(l,1,0):{_:0};
for(let o in Rt)It[o]=Ps}if(Ae)if(ae=St("table",qr,m),Xe=St("tbody",null,ae),Q.mount(l,ae),ut){wt=St(
"thead",null,ae,Xe);let n=St("tr",null,wt);St("th",null,n);for(var hl in Rt)St("th",_o,n).textContent=
hl}else ot(ae,Zr),Q.live&&ot(ae,jr);let dl={show:!0},Ul={show:!1};function an(n,o){if(o==0&&(ut||!Q.
live||i==2))return zl;let r=[],a=St("tr",Qr,Xe,Xe.childNodes[o]);ot(a,n.class),n.show||ot(a,al);let f=St(
"th",null,a);if(ve.show){let v=mt(Xr,f);if(o>0){let y=ve.width(l,o);y&&(v.style.border=y+"px "+ve.dash(
l,o)+" "+ve.stroke(l,o)),v.style.background=ve.fill(l,o)}}let d=mt(_o,f);n.label instanceof HTMLElement?
d.appendChild(n.label):d.textContent=n.label,o>0&&(ve.show||(d.style.color=n.width>0?ve.stroke(l,o):
ve.fill(l,o)),Be("click",f,v=>{if(O._lock)return;tl(v);let y=S.indexOf(n);if((v.ctrlKey||v.metaKey)!=
Q.isolate){let E=S.some((T,L)=>L>0&&L!=y&&T.show);S.forEach((T,L)=>{L>0&&Lt(L,E?L==y?dl:Ul:dl,!0,Me.
setSeries)})}else Lt(y,{show:!n.show},!0,Me.setSeries)},!1),bl&&Be(Lo,f,v=>{O._lock||(tl(v),Lt(S.indexOf(
n),Pl,!0,Me.setSeries))},!1));for(var b in Rt){let v=St("td",ea,a);v.textContent="--",r.push(v)}return[
a,r]}let jt=new Map;function Be(n,o,r,a=!0){let f=jt.get(o)||{},d=O.bind[n](l,o,r,a);d&&(ul(n,o,f[n]=
d),jt.set(o,f))}function ml(n,o,r){let a=jt.get(o)||{};for(let f in a)(n==null||f==n)&&(Ss(f,o,a[f]),
delete a[f]);n==null&&jt.delete(o)}let $t=0,Zt=0,J=0,M=0,de=0,Pe=0,gl=de,Qt=Pe,Tt=J,Xt=M,et=0,ct=0,Ze=0,
bt=0;l.bbox={};let Vn=!1,un=!1,wl=!1,el=!1,cn=!1,ft=!1;function In(n,o,r){(r||n!=l.width||o!=l.height)&&
Bs(n,o),kl(!1),wl=!0,un=!0,_l()}function Bs(n,o){l.width=$t=J=n,l.height=Zt=M=o,de=Pe=0,rr(),ar();let r=l.
bbox;et=r.left=il(de*re,.5),ct=r.top=il(Pe*re,.5),Ze=r.width=il(J*re,.5),bt=r.height=il(M*re,.5)}let sr=3;
function or(){let n=!1,o=0;for(;!n;){o++;let r=wr(o),a=br(o);n=o==sr||r&&a,n||(Bs(l.width,l.height),
un=!0)}}function ir({width:n,height:o}){In(n,o)}l.setSize=ir;function rr(){let n=!1,o=!1,r=!1,a=!1;F.
forEach((f,d)=>{if(f.show&&f._show){let{side:b,_size:v}=f,y=b%2,E=f.label!=null?f.labelSize:0,T=v+E;
T>0&&(y?(J-=T,b==3?(de+=T,a=!0):r=!0):(M-=T,b==0?(Pe+=T,n=!0):o=!0))}}),ll[0]=n,ll[1]=r,ll[2]=o,ll[3]=
a,J-=Wt[1]+Wt[3],de+=Wt[3],M-=Wt[2]+Wt[0],Pe+=Wt[0]}function ar(){let n=de+J,o=Pe+M,r=de,a=Pe;function f(d,b){
switch(d){case 1:return n+=b,n-b;case 2:return o+=b,o-b;case 3:return r-=b,r+b;case 0:return a-=b,a+
b}}F.forEach((d,b)=>{if(d.show&&d._show){let v=d.side;d._pos=f(v,d._size),d.label!=null&&(d._lpos=f(
v,d.labelSize))}})}if(O.dataIdx==null){let n=O.hover,o=n.skip=new Set(n.skip??[]);o.add(void 0);let r=n.
prox=te(n.prox),a=n.bias??=0;O.dataIdx=(f,d,b,v)=>{if(d==0)return b;let y=b,E=r(f,d,b,v)??pe,T=E>=0&&
E<pe,L=_.ori==0?J:M,U=O.left,ie=t[0],se=t[d];if(o.has(se[b])){y=null;let X=null,I=null,R;if(a==0||a==
-1)for(R=b;X==null&&R-- >0;)o.has(se[R])||(X=R);if(a==0||a==1)for(R=b;I==null&&R++<se.length;)o.has(
se[R])||(I=R);if(X!=null||I!=null)if(T){let we=X==null?-1/0:C(ie[X],_,L,0),Ee=I==null?1/0:C(ie[I],_,
L,0),He=U-we,fe=Ee-U;He<=fe?He<=E&&(y=X):fe<=E&&(y=I)}else y=I==null?X:X==null?I:b-X<=I-b?X:I}else T&&
Ne(U-C(ie[b],_,L,0))>E&&(y=null);return y}}let tl=n=>{O.event=n};O.idxs=ce,O._lock=!1;let We=O.points;
We.show=te(We.show),We.size=te(We.size),We.stroke=te(We.stroke),We.width=te(We.width),We.fill=te(We.
fill);let Mt=l.focus=Le({},e.focus||{alpha:.3},O.focus),bl=Mt.prox>=0,xl=bl&&We.one,pt=[],vl=[],yl=[];
function Ys(n,o){let r=We.show(l,o);if(r instanceof HTMLElement)return ot(r,Jr),ot(r,n.class),Ot(r,-10,
-10,J,M),P.insertBefore(r,pt[o]),r}function Ks(n,o){if(i==1||o>0){let r=i==1&&k[n.scale].time,a=n.value;
n.value=r?Go(a)?jo(le,qo(a,$)):a||ne:a||au,n.label=n.label||(r?eu:Xa)}if(xl||o>0){n.width=n.width==null?
1:n.width,n.paths=n.paths||Su||pa,n.fillTo=te(n.fillTo||hu),n.pxAlign=+oe(n.pxAlign,H),n.pxRound=oi(
n.pxAlign),n.stroke=te(n.stroke||null),n.fill=te(n.fill||null),n._stroke=n._fill=n._paths=n._focus=null;
let r=uu(qe(1,n.width),1),a=n.points=Le({},{size:r,width:qe(1,r*.2),stroke:n.stroke,space:r*2,paths:ku,
_stroke:null,_fill:null},n.points);a.show=te(a.show),a.filter=te(a.filter),a.fill=te(a.fill),a.stroke=
te(a.stroke),a.paths=te(a.paths),a.pxAlign=n.pxAlign}if(Ae){let r=an(n,o);_e.splice(o,0,r[0]),Et.splice(
o,0,r[1]),Q.values.push(null)}if(Ue){ce.splice(o,0,null);let r=null;xl?o==0&&(r=Ys(n,o)):o>0&&(r=Ys(
n,o)),pt.splice(o,0,r),vl.splice(o,0,0),yl.splice(o,0,0)}ze("addSeries",o)}function ur(n,o){o=o??S.length,
n=i==1?Ls(n,o,Qo,ni):Ls(n,o,{},li),S.splice(o,0,n),Ks(S[o],o)}l.addSeries=ur;function cr(n){if(S.splice(
n,1),Ae){Q.values.splice(n,1),Et.splice(n,1);let o=_e.splice(n,1)[0];ml(null,o.firstChild),o.remove()}
Ue&&(ce.splice(n,1),pt.splice(n,1)[0].remove(),vl.splice(n,1),yl.splice(n,1)),ze("delSeries",n)}l.delSeries=
cr;let ll=[!1,!1,!1,!1];function fr(n,o){if(n._show=n.show,n.show){let r=n.side%2,a=k[n.scale];a==null&&
(n.scale=r?S[1].scale:A,a=k[n.scale]);let f=a.time;n.size=te(n.size),n.space=te(n.space),n.rotate=te(
n.rotate),Jt(n.incrs)&&n.incrs.forEach(b=>{!qt.has(b)&&qt.set(b,bi(b))}),n.incrs=te(n.incrs||(a.distr==
2?Oa:f?W==1?$a:Fa:rl)),n.splits=te(n.splits||(f&&a.distr==1?je:a.distr==3?_s:a.distr==4?nu:lu)),n.stroke=
te(n.stroke),n.grid.stroke=te(n.grid.stroke),n.ticks.stroke=te(n.ticks.stroke),n.border.stroke=te(n.
border.stroke);let d=n.values;n.values=Jt(d)&&!Jt(d[0])?te(d):f?Jt(d)?Jo(le,Ko(d,$)):Go(d)?Wa(le,d):
d||xe:d||tu,n.filter=te(n.filter||(a.distr>=3&&a.log==10?iu:a.distr==3&&a.log==2?ru:gi)),n.font=ui(n.
font),n.labelFont=ui(n.labelFont),n._size=n.size(l,null,o,0),n._space=n._rotate=n._incrs=n._found=n.
_splits=n._values=null,n._size>0&&(ll[o]=!0,n._el=mt(Ur,w))}}function Bl(n,o,r,a){let[f,d,b,v]=r,y=o%
2,E=0;return y==0&&(v||d)&&(E=o==0&&!f||o==2&&!b?De(Zo.size/3):0),y==1&&(f||b)&&(E=o==1&&!d||o==3&&!v?
De(ei.size/2):0),E}let Js=l.padding=(e.padding||[Bl,Bl,Bl,Bl]).map(n=>te(oe(n,Bl))),Wt=l._padding=Js.
map((n,o)=>n(l,o,ll,0)),Fe,Ce=null,Oe=null,fn=i==1?S[0].idxs:null,xt=null,Yl=!1;function qs(n,o){if(t=
n??[],l.data=l._data=t,i==2){Fe=0;for(let r=1;r<S.length;r++)Fe+=t[r][0].length}else{t.length==0&&(l.
data=l._data=t=[[]]),xt=t[0],Fe=xt.length;let r=t;if(q==2){r=t.slice();let a=r[0]=Array(Fe);for(let f=0;f<
Fe;f++)a[f]=f}l._data=t=r}if(kl(!0),ze("setData"),q==2&&(wl=!0),o!==!1){let r=_;r.auto(l,Yl)?Wn():Ut(
A,r.min,r.max),el=el||O.left>=0,ft=!0,_l()}}l.setData=qs;function Wn(){Yl=!0;let n,o;i==1&&(Fe>0?(Ce=
fn[0]=0,Oe=fn[1]=Fe-1,n=t[0][Ce],o=t[0][Oe],q==2?(n=Ce,o=Oe):n==o&&(q==3?[n,o]=Ln(n,n,_.log,!1):q==4?
[n,o]=Ns(n,n,_.log,!1):_.time?o=n+De(86400/W):[n,o]=En(n,o,Cs,!0))):(Ce=fn[0]=n=null,Oe=fn[1]=o=null)),
Ut(A,n,o)}let pn,Sl,Gn,Un,Bn,Yn,Kn,Jn,qn,Qe;function js(n,o,r,a,f,d){n??=To,r??=Rs,a??="butt",f??=To,
d??="round",n!=pn&&(g.strokeStyle=pn=n),f!=Sl&&(g.fillStyle=Sl=f),o!=Gn&&(g.lineWidth=Gn=o),d!=Bn&&(g.
lineJoin=Bn=d),a!=Yn&&(g.lineCap=Yn=a),r!=Un&&g.setLineDash(Un=r)}function Zs(n,o,r,a){o!=Sl&&(g.fillStyle=
Sl=o),n!=Kn&&(g.font=Kn=n),r!=Jn&&(g.textAlign=Jn=r),a!=qn&&(g.textBaseline=qn=a)}function jn(n,o,r,a,f=0){
if(a.length>0&&n.auto(l,Yl)&&(o==null||o.min==null)){let d=oe(Ce,0),b=oe(Oe,a.length-1),v=r.min==null?
ia(a,d,b,f,n.distr==3):[r.min,r.max];n.min=_t(n.min,r.min=v[0]),n.max=qe(n.max,r.max=v[1])}}let Qs={
min:null,max:null};function pr(){for(let a in k){let f=k[a];z[a]==null&&(f.min==null||z[A]!=null&&f.
auto(l,Yl))&&(z[a]=Qs)}for(let a in k){let f=k[a];z[a]==null&&f.from!=null&&z[f.from]!=null&&(z[a]=Qs)}
z[A]!=null&&kl(!0);let n={};for(let a in z){let f=z[a];if(f!=null){let d=n[a]=Hl(k[a],ma);if(f.min!=
null)Le(d,f);else if(a!=A||i==2)if(Fe==0&&d.from==null){let b=d.range(l,null,null,a);d.min=b[0],d.max=
b[1]}else d.min=pe,d.max=-pe}}if(Fe>0){S.forEach((a,f)=>{if(i==1){let d=a.scale,b=z[d];if(b==null)return;
let v=n[d];if(f==0){let y=v.range(l,v.min,v.max,d);v.min=y[0],v.max=y[1],Ce=kt(v.min,t[0]),Oe=kt(v.max,
t[0]),Oe-Ce>1&&(t[0][Ce]<v.min&&Ce++,t[0][Oe]>v.max&&Oe--),a.min=xt[Ce],a.max=xt[Oe]}else a.show&&a.
auto&&jn(v,b,a,t[f],a.sorted);a.idxs[0]=Ce,a.idxs[1]=Oe}else if(f>0&&a.show&&a.auto){let[d,b]=a.facets,
v=d.scale,y=b.scale,[E,T]=t[f],L=n[v],U=n[y];L!=null&&jn(L,z[v],d,E,d.sorted),U!=null&&jn(U,z[y],b,T,
b.sorted),a.min=b.min,a.max=b.max}});for(let a in n){let f=n[a],d=z[a];if(f.from==null&&(d==null||d.
min==null)){let b=f.range(l,f.min==pe?null:f.min,f.max==-pe?null:f.max,a);f.min=b[0],f.max=b[1]}}}for(let a in n){
let f=n[a];if(f.from!=null){let d=n[f.from];if(d.min==null)f.min=f.max=null;else{let b=f.range(l,d.min,
d.max,a);f.min=b[0],f.max=b[1]}}}let o={},r=!1;for(let a in n){let f=n[a],d=k[a];if(d.min!=f.min||d.
max!=f.max){d.min=f.min,d.max=f.max;let b=d.distr;d._min=b==3?Ht(d.min):b==4?ms(d.min,d.asinh):b==100?
d.fwd(d.min):d.min,d._max=b==3?Ht(d.max):b==4?ms(d.max,d.asinh):b==100?d.fwd(d.max):d.max,o[a]=r=!0}}
if(r){S.forEach((a,f)=>{i==2?f>0&&o.y&&(a._paths=null):o[a.scale]&&(a._paths=null)});for(let a in o)
wl=!0,ze("setScale",a);Ue&&O.left>=0&&(el=ft=!0)}for(let a in z)z[a]=null}function hr(n){let o=ks(Ce-
1,0,Fe-1),r=ks(Oe+1,0,Fe-1);for(;n[o]==null&&o>0;)o--;for(;n[r]==null&&r<Fe-1;)r++;return[o,r]}function dr(){
if(Fe>0){let n=S.some(o=>o._focus)&&Qe!=Mt.alpha;n&&(g.globalAlpha=Qe=Mt.alpha),S.forEach((o,r)=>{if(r>
0&&o.show&&(Xs(r,!1),Xs(r,!0),o._paths==null)){let a=Qe;Qe!=o.alpha&&(g.globalAlpha=Qe=o.alpha);let f=i==
2?[0,t[r][0].length-1]:hr(t[r]);o._paths=o.paths(l,r,f[0],f[1]),Qe!=a&&(g.globalAlpha=Qe=a)}}),S.forEach(
(o,r)=>{if(r>0&&o.show){let a=Qe;Qe!=o.alpha&&(g.globalAlpha=Qe=o.alpha),o._paths!=null&&eo(r,!1);{let f=o.
_paths!=null?o._paths.gaps:null,d=o.points.show(l,r,Ce,Oe,f),b=o.points.filter(l,r,d,f);(d||b)&&(o.points.
_paths=o.points.paths(l,r,Ce,Oe,b),eo(r,!0))}Qe!=a&&(g.globalAlpha=Qe=a),ze("drawSeries",r)}}),n&&(g.
globalAlpha=Qe=1)}}function Xs(n,o){let r=o?S[n].points:S[n];r._stroke=r.stroke(l,n),r._fill=r.fill(
l,n)}function eo(n,o){let r=o?S[n].points:S[n],{stroke:a,fill:f,clip:d,flags:b,_stroke:v=r._stroke,_fill:y=r.
_fill,_width:E=r.width}=r._paths;E=he(E*re,3);let T=null,L=E%2/2;o&&y==null&&(y=E>0?"#fff":v);let U=r.
pxAlign==1&&L>0;if(U&&g.translate(L,L),!o){let ie=et-E/2,se=ct-E/2,X=Ze+E,I=bt+E;T=new Path2D,T.rect(
ie,se,X,I)}o?Zn(v,E,r.dash,r.cap,y,a,f,b,d):mr(n,v,E,r.dash,r.cap,y,a,f,b,T,d),U&&g.translate(-L,-L)}
function mr(n,o,r,a,f,d,b,v,y,E,T){let L=!1;y!=0&&j.forEach((U,ie)=>{if(U.series[0]==n){let se=S[U.series[1]],
X=t[U.series[1]],I=(se._paths||on).band;Jt(I)&&(I=U.dir==1?I[0]:I[1]);let R,we=null;se.show&&I&&aa(X,
Ce,Oe)?(we=U.fill(l,ie)||d,R=se._paths.clip):I=null,Zn(o,r,a,f,we,b,v,y,E,T,R,I),L=!0}}),L||Zn(o,r,a,
f,d,b,v,y,E,T)}let to=Fl|Ts;function Zn(n,o,r,a,f,d,b,v,y,E,T,L){js(n,o,r,a,f),(y||E||L)&&(g.save(),
y&&g.clip(y),E&&g.clip(E)),L?(v&to)==to?(g.clip(L),T&&g.clip(T),dn(f,b),hn(n,d,o)):v&Ts?(dn(f,b),g.clip(
L),hn(n,d,o)):v&Fl&&(g.save(),g.clip(L),T&&g.clip(T),dn(f,b),g.restore(),hn(n,d,o)):(dn(f,b),hn(n,d,
o)),(y||E||L)&&g.restore()}function hn(n,o,r){r>0&&(o instanceof Map?o.forEach((a,f)=>{g.strokeStyle=
pn=f,g.stroke(a)}):o!=null&&n&&g.stroke(o))}function dn(n,o){o instanceof Map?o.forEach((r,a)=>{g.fillStyle=
Sl=a,g.fill(r)}):o!=null&&n&&g.fill(o)}function gr(n,o,r,a){let f=F[n],d;if(a<=0)d=[0,0];else{let b=f.
_space=f.space(l,n,o,r,a),v=f._incrs=f.incrs(l,n,o,r,a,b);d=Au(o,r,v,a,b)}return f._found=d}function Qn(n,o,r,a,f,d,b,v,y,E){
let T=b%2/2;H==1&&g.translate(T,T),js(v,b,y,E,v),g.beginPath();let L,U,ie,se,X=f+(a==0||a==3?-d:d);r==
0?(U=f,se=X):(L=f,ie=X);for(let I=0;I<n.length;I++)o[I]!=null&&(r==0?L=ie=n[I]:U=se=n[I],g.moveTo(L,
U),g.lineTo(ie,se));g.stroke(),H==1&&g.translate(-T,-T)}function wr(n){let o=!0;return F.forEach((r,a)=>{
if(!r.show)return;let f=k[r.scale];if(f.min==null){r._show&&(o=!1,r._show=!1,kl(!1));return}else r._show||
(o=!1,r._show=!0,kl(!1));let d=r.side,b=d%2,{min:v,max:y}=f,[E,T]=gr(a,v,y,b==0?J:M);if(T==0)return;
let L=f.distr==2,U=r._splits=r.splits(l,a,v,y,E,T,L),ie=f.distr==2?U.map(R=>xt[R]):U,se=f.distr==2?xt[U[1]]-
xt[U[0]]:E,X=r._values=r.values(l,r.filter(l,ie,a,T,se),a,T,se);r._rotate=d==2?r.rotate(l,X,a,T):0;let I=r.
_size;r._size=gt(r.size(l,X,a,n)),I!=null&&r._size!=I&&(o=!1)}),o}function br(n){let o=!0;return Js.
forEach((r,a)=>{let f=r(l,a,ll,n);f!=Wt[a]&&(o=!1),Wt[a]=f}),o}function xr(){for(let n=0;n<F.length;n++){
let o=F[n];if(!o.show||!o._show)continue;let r=o.side,a=r%2,f,d,b=o.stroke(l,n),v=r==0||r==3?-1:1,[y,
E]=o._found;if(o.label!=null){let Ke=o.labelGap*v,nt=De((o._lpos+Ke)*re);Zs(o.labelFont[0],b,"center",
r==2?"top":Eo),g.save(),a==1?(f=d=0,g.translate(nt,De(ct+bt/2)),g.rotate((r==3?-kn:kn)/2)):(f=De(et+
Ze/2),d=nt);let ol=di(o.label)?o.label(l,n,y,E):o.label;g.fillText(ol,f,d),g.restore()}if(E==0)continue;
let T=k[o.scale],L=a==0?Ze:bt,U=a==0?et:ct,ie=o._splits,se=T.distr==2?ie.map(Ke=>xt[Ke]):ie,X=T.distr==
2?xt[ie[1]]-xt[ie[0]]:y,I=o.ticks,R=o.border,we=I.show?I.size:0,Ee=De(we*re),He=De((o.alignTo==2?o._size-
we-o.gap:o.gap)*re),fe=o._rotate*-kn/180,Te=V(o._pos*re),tt=(Ee+He)*v,Ye=Te+tt;d=a==0?Ye:0,f=a==1?Ye:
0;let ht=o.font[0],vt=o.align==1?Cl:o.align==2?ps:fe>0?Cl:fe<0?ps:a==0?"center":r==3?ps:Cl,Pt=fe||a==
1?"middle":r==2?"top":Eo;Zs(ht,b,vt,Pt);let lt=o.font[1]*o.lineGap,dt=ie.map(Ke=>V(p(Ke,T,L,U))),yt=o.
_values;for(let Ke=0;Ke<yt.length;Ke++){let nt=yt[Ke];if(nt!=null){a==0?f=dt[Ke]:d=dt[Ke],nt=""+nt;let ol=nt.
indexOf(`
`)==-1?[nt]:nt.split(/\n/gm);for(let Je=0;Je<ol.length;Je++){let yo=ol[Je];fe?(g.save(),g.translate(
f,d+Je*lt),g.rotate(fe),g.fillText(yo,0,0),g.restore()):g.fillText(yo,f,d+Je*lt)}}}I.show&&Qn(dt,I.filter(
l,se,n,E,X),a,r,Te,Ee,he(I.width*re,3),I.stroke(l,n),I.dash,I.cap);let Dt=o.grid;Dt.show&&Qn(dt,Dt.filter(
l,se,n,E,X),a,a==0?2:1,a==0?ct:et,a==0?bt:Ze,he(Dt.width*re,3),Dt.stroke(l,n),Dt.dash,Dt.cap),R.show&&
Qn([Te],[1],a==0?1:0,a==0?1:2,a==1?ct:et,a==1?bt:Ze,he(R.width*re,3),R.stroke(l,n),R.dash,R.cap)}ze(
"drawAxes")}function kl(n){S.forEach((o,r)=>{r>0&&(o._paths=null,n&&(i==1?(o.min=null,o.max=null):o.
facets.forEach(a=>{a.min=null,a.max=null})))})}let mn=!1,Xn=!1,Kl=[];function vr(){Xn=!1;for(let n=0;n<
Kl.length;n++)ze(...Kl[n]);Kl.length=0}function _l(){mn||(Sa(lo),mn=!0)}function yr(n,o=!1){mn=!0,Xn=
o,n(l),lo(),o&&Kl.length>0&&queueMicrotask(vr)}l.batch=yr;function lo(){if(Vn&&(pr(),Vn=!1),wl&&(or(),
wl=!1),un){if(be(D,Cl,de),be(D,"top",Pe),be(D,tn,J),be(D,ln,M),be(P,Cl,de),be(P,"top",Pe),be(P,tn,J),
be(P,ln,M),be(w,tn,$t),be(w,ln,Zt),x.width=De($t*re),x.height=De(Zt*re),F.forEach(({_el:n,_show:o,_size:r,
_pos:a,side:f})=>{if(n!=null)if(o){let d=f===3||f===0?r:0,b=f%2==1;be(n,b?"left":"top",a-d),be(n,b?"\
width":"height",r),be(n,b?"top":"left",b?Pe:de),be(n,b?"height":"width",b?M:J),ys(n,al)}else ot(n,al)}),
pn=Sl=Gn=Bn=Yn=Kn=Jn=qn=Un=null,Qe=1,jl(!0),de!=gl||Pe!=Qt||J!=Tt||M!=Xt){kl(!1);let n=J/Tt,o=M/Xt;if(Ue&&
!el&&O.left>=0){O.left*=n,O.top*=o,El&&Ot(El,De(O.left),0,J,M),Tl&&Ot(Tl,0,De(O.top),J,M);for(let r=0;r<
pt.length;r++){let a=pt[r];a!=null&&(vl[r]*=n,yl[r]*=o,Ot(a,gt(vl[r]),gt(yl[r]),J,M))}}if(ge.show&&!cn&&
ge.left>=0&&ge.width>0){ge.left*=n,ge.width*=n,ge.top*=o,ge.height*=o;for(let r in os)be(Al,r,ge[r])}
gl=de,Qt=Pe,Tt=J,Xt=M}ze("setSize"),un=!1}$t>0&&Zt>0&&(g.clearRect(0,0,x.width,x.height),ze("drawCle\
ar"),K.forEach(n=>n()),ze("draw")),ge.show&&cn&&(gn(ge),cn=!1),Ue&&el&&(sl(null,!0,!1),el=!1),Q.show&&
Q.live&&ft&&(ns(),ft=!1),h||(h=!0,l.status=1,ze("ready")),Yl=!1,mn=!1}l.redraw=(n,o)=>{wl=o||!1,n!==
!1?Ut(A,_.min,_.max):_l()};function es(n,o){let r=k[n];if(r.from==null){if(Fe==0){let a=r.range(l,o.
min,o.max,n);o.min=a[0],o.max=a[1]}if(o.min>o.max){let a=o.min;o.min=o.max,o.max=a}if(Fe>1&&o.min!=null&&
o.max!=null&&o.max-o.min<1e-16)return;n==A&&r.distr==2&&Fe>0&&(o.min=kt(o.min,t[0]),o.max=kt(o.max,t[0]),
o.min==o.max&&o.max++),z[n]=o,Vn=!0,_l()}}l.setScale=es;let ts,ls,El,Tl,no,so,Ml,Ll,oo,io,me,ye,Gt=!1,
Ve=O.drag,Re=Ve.x,$e=Ve.y;Ue&&(O.x&&(ts=mt(Yr,P)),O.y&&(ls=mt(Kr,P)),_.ori==0?(El=ts,Tl=ls):(El=ls,Tl=
ts),me=O.left,ye=O.top);let ge=l.select=Le({show:!0,over:!0,left:0,width:0,top:0,height:0},e.select),
Al=ge.show?mt(Br,ge.over?P:D):null;function gn(n,o){if(ge.show){for(let r in n)ge[r]=n[r],r in os&&be(
Al,r,n[r]);o!==!1&&ze("setSelect")}}l.setSelect=gn;function Sr(n){if(S[n].show)Ae&&ys(_e[n],al);else if(Ae&&
ot(_e[n],al),Ue){let r=xl?pt[0]:pt[n];r!=null&&Ot(r,-10,-10,J,M)}}function Ut(n,o,r){es(n,{min:o,max:r})}
function Lt(n,o,r,a){o.focus!=null&&Mr(n),o.show!=null&&S.forEach((f,d)=>{d>0&&(n==d||n==null)&&(f.show=
o.show,Sr(d),i==2?(Ut(f.facets[0].scale,null,null),Ut(f.facets[1].scale,null,null)):Ut(f.scale,null,
null),_l())}),r!==!1&&ze("setSeries",n,o),a&&Zl("setSeries",l,n,o)}l.setSeries=Lt;function kr(n,o){Le(
j[n],o)}function _r(n,o){n.fill=te(n.fill||null),n.dir=oe(n.dir,-1),o=o??j.length,j.splice(o,0,n)}function Er(n){
n==null?j.length=0:j.splice(n,1)}l.addBand=_r,l.setBand=kr,l.delBand=Er;function Tr(n,o){S[n].alpha=
o,Ue&&pt[n]!=null&&(pt[n].style.opacity=o),Ae&&_e[n]&&(_e[n].style.opacity=o)}let zt,Bt,nl,Pl={focus:!0};
function Mr(n){if(n!=nl){let o=n==null,r=Mt.alpha!=1;S.forEach((a,f)=>{if(i==1||f>0){let d=o||f==0||
f==n;a._focus=o?null:d,r&&Tr(f,d?1:Mt.alpha)}}),nl=n,r&&_l()}}Ae&&bl&&Be(Ao,ae,n=>{O._lock||(tl(n),nl!=
null&&Lt(null,Pl,!0,Me.setSeries))});function At(n,o,r){let a=k[o];r&&(n=n/re-(a.ori==1?Pe:de));let f=J;
a.ori==1&&(f=M,n=f-n),a.dir==-1&&(n=f-n);let d=a._min,b=a._max,v=n/f,y=d+(b-d)*v,E=a.distr;return E==
3?$l(10,y):E==4?ca(y,a.asinh):E==100?a.bwd(y):y}function Lr(n,o){let r=At(n,A,o);return kt(r,t[0],Ce,
Oe)}l.valToIdx=n=>kt(n,t[0]),l.posToIdx=Lr,l.posToVal=At,l.valToPos=(n,o,r)=>k[o].ori==0?u(n,k[o],r?
Ze:J,r?et:0):c(n,k[o],r?bt:M,r?ct:0),l.setCursor=(n,o,r)=>{me=n.left,ye=n.top,sl(null,o,r)};function ro(n,o){
be(Al,Cl,ge.left=n),be(Al,tn,ge.width=o)}function ao(n,o){be(Al,"top",ge.top=n),be(Al,ln,ge.height=o)}
let Jl=_.ori==0?ro:ao,ql=_.ori==1?ro:ao;function Ar(){if(Ae&&Q.live)for(let n=i==2?1:0;n<S.length;n++){
if(n==0&&ut)continue;let o=Q.values[n],r=0;for(let a in o)Et[n][r++].firstChild.nodeValue=o[a]}}function ns(n,o){
if(n!=null&&(n.idxs?n.idxs.forEach((r,a)=>{ce[a]=r}):da(n.idx)||ce.fill(n.idx),Q.idx=ce[0]),Ae&&Q.live){
for(let r=0;r<S.length;r++)(r>0||i==1&&!ut)&&Pr(r,ce[r]);Ar()}ft=!1,o!==!1&&ze("setLegend")}l.setLegend=
ns;function Pr(n,o){let r=S[n],a=n==0&&q==2?xt:t[n],f;ut?f=r.values(l,n,o)??It:(f=r.value(l,o==null?
null:a[o],n,o),f=f==null?It:{_:f}),Q.values[n]=f}function sl(n,o,r){oo=me,io=ye,[me,ye]=O.move(l,me,
ye),O.left=me,O.top=ye,Ue&&(El&&Ot(El,De(me),0,J,M),Tl&&Ot(Tl,0,De(ye),J,M));let a,f=Ce>Oe;zt=pe,Bt=
null;let d=_.ori==0?J:M,b=_.ori==1?J:M;if(me<0||Fe==0||f){a=O.idx=null;for(let v=0;v<S.length;v++){let y=pt[v];
y!=null&&Ot(y,-10,-10,J,M)}bl&&Lt(null,Pl,!0,n==null&&Me.setSeries),Q.live&&(ce.fill(a),ft=!0)}else{
let v,y,E;i==1&&(v=_.ori==0?me:ye,y=At(v,A),a=O.idx=kt(y,t[0],Ce,Oe),E=C(t[0][a],_,d,0));let T=-10,L=-10,
U=0,ie=0,se=!0,X="",I="";for(let R=i==2?1:0;R<S.length;R++){let we=S[R],Ee=ce[R],He=Ee==null?null:i==
1?t[R][Ee]:t[R][1][Ee],fe=O.dataIdx(l,R,a,y),Te=fe==null?null:i==1?t[R][fe]:t[R][1][fe];if(ft=ft||Te!=
He||fe!=Ee,ce[R]=fe,R>0&&we.show){let tt=fe==null?-10:fe==a?E:C(i==1?t[0][fe]:t[R][0][fe],_,d,0),Ye=Te==
null?-10:G(Te,i==1?k[we.scale]:k[we.facets[1].scale],b,0);if(bl&&Te!=null){let ht=_.ori==1?me:ye,vt=Ne(
Mt.dist(l,R,fe,Ye,ht));if(vt<zt){let Pt=Mt.bias;if(Pt!=0){let lt=At(ht,we.scale),dt=Te>=0?1:-1,yt=lt>=
0?1:-1;yt==dt&&(yt==1?Pt==1?Te>=lt:Te<=lt:Pt==1?Te<=lt:Te>=lt)&&(zt=vt,Bt=R)}else zt=vt,Bt=R}}if(ft||
xl){let ht,vt;_.ori==0?(ht=tt,vt=Ye):(ht=Ye,vt=tt);let Pt,lt,dt,yt,Dt,Ke,nt=!0,ol=We.bbox;if(ol!=null){
nt=!1;let Je=ol(l,R);dt=Je.left,yt=Je.top,Pt=Je.width,lt=Je.height}else dt=ht,yt=vt,Pt=lt=We.size(l,
R);if(Ke=We.fill(l,R),Dt=We.stroke(l,R),xl)R==Bt&&zt<=Mt.prox&&(T=dt,L=yt,U=Pt,ie=lt,se=nt,X=Ke,I=Dt);else{
let Je=pt[R];Je!=null&&(vl[R]=dt,yl[R]=yt,$o(Je,Pt,lt,nt),Oo(Je,Ke,Dt),Ot(Je,gt(dt),gt(yt),J,M))}}}}
if(xl){let R=Mt.prox,we=nl==null?zt<=R:zt>R||Bt!=nl;if(ft||we){let Ee=pt[0];Ee!=null&&(vl[0]=T,yl[0]=
L,$o(Ee,U,ie,se),Oo(Ee,X,I),Ot(Ee,gt(T),gt(L),J,M))}}}if(ge.show&&Gt)if(n!=null){let[v,y]=Me.scales,
[E,T]=Me.match,[L,U]=n.cursor.sync.scales,ie=n.cursor.drag;if(Re=ie._x,$e=ie._y,Re||$e){let{left:se,
top:X,width:I,height:R}=n.select,we=n.scales[L].ori,Ee=n.posToVal,He,fe,Te,tt,Ye,ht=v!=null&&E(v,L),
vt=y!=null&&T(y,U);ht&&Re?(we==0?(He=se,fe=I):(He=X,fe=R),Te=k[v],tt=C(Ee(He,L),Te,d,0),Ye=C(Ee(He+fe,
L),Te,d,0),Jl(_t(tt,Ye),Ne(Ye-tt))):Jl(0,d),vt&&$e?(we==1?(He=se,fe=I):(He=X,fe=R),Te=k[y],tt=G(Ee(He,
U),Te,b,0),Ye=G(Ee(He+fe,U),Te,b,0),ql(_t(tt,Ye),Ne(Ye-tt))):ql(0,b)}else is()}else{let v=Ne(oo-no),
y=Ne(io-so);if(_.ori==1){let U=v;v=y,y=U}Re=Ve.x&&v>=Ve.dist,$e=Ve.y&&y>=Ve.dist;let E=Ve.uni;E!=null?
Re&&$e&&(Re=v>=E,$e=y>=E,!Re&&!$e&&(y>v?$e=!0:Re=!0)):Ve.x&&Ve.y&&(Re||$e)&&(Re=$e=!0);let T,L;Re&&(_.
ori==0?(T=Ml,L=me):(T=Ll,L=ye),Jl(_t(T,L),Ne(L-T)),$e||ql(0,b)),$e&&(_.ori==1?(T=Ml,L=me):(T=Ll,L=ye),
ql(_t(T,L),Ne(L-T)),Re||Jl(0,d)),!Re&&!$e&&(Jl(0,0),ql(0,0))}if(Ve._x=Re,Ve._y=$e,n==null){if(r){if(vo!=
null){let[v,y]=Me.scales;Me.values[0]=v!=null?At(_.ori==0?me:ye,v):null,Me.values[1]=y!=null?At(_.ori==
1?me:ye,y):null}Zl(hs,l,me,ye,J,M,a)}if(bl){let v=r&&Me.setSeries,y=Mt.prox;nl==null?zt<=y&&Lt(Bt,Pl,
!0,v):zt>y?Lt(null,Pl,!0,v):Bt!=nl&&Lt(Bt,Pl,!0,v)}}ft&&(Q.idx=a,ns()),o!==!1&&ze("setCursor")}let Yt=null;
Object.defineProperty(l,"rect",{get(){return Yt==null&&jl(!1),Yt}});function jl(n=!1){n?Yt=null:(Yt=
P.getBoundingClientRect(),ze("syncRect",Yt))}function uo(n,o,r,a,f,d,b){O._lock||Gt&&n!=null&&n.movementX==
0&&n.movementY==0||(ss(n,o,r,a,f,d,b,!1,n!=null),n!=null?sl(null,!0,!0):sl(o,!0,!1))}function ss(n,o,r,a,f,d,b,v,y){
if(Yt==null&&jl(!1),tl(n),n!=null)r=n.clientX-Yt.left,a=n.clientY-Yt.top;else{if(r<0||a<0){me=-10,ye=
-10;return}let[E,T]=Me.scales,L=o.cursor.sync,[U,ie]=L.values,[se,X]=L.scales,[I,R]=Me.match,we=o.axes[0].
side%2==1,Ee=_.ori==0?J:M,He=_.ori==1?J:M,fe=we?d:f,Te=we?f:d,tt=we?a:r,Ye=we?r:a;if(se!=null?r=I(E,
se)?p(U,k[E],Ee,0):-10:r=Ee*(tt/fe),X!=null?a=R(T,X)?p(ie,k[T],He,0):-10:a=He*(Ye/Te),_.ori==1){let ht=r;
r=a,a=ht}}y&&(o==null||o.cursor.event.type==hs)&&((r<=1||r>=J-1)&&(r=il(r,J)),(a<=1||a>=M-1)&&(a=il(
a,M))),v?(no=r,so=a,[Ml,Ll]=O.move(l,r,a)):(me=r,ye=a)}let os={width:0,height:0,left:0,top:0};function is(){
gn(os,!1)}let co,fo,po,ho;function mo(n,o,r,a,f,d,b){Gt=!0,Re=$e=Ve._x=Ve._y=!1,ss(n,o,r,a,f,d,b,!0,
!1),n!=null&&(Be(ds,xs,go,!1),Zl(Mo,l,Ml,Ll,J,M,null));let{left:v,top:y,width:E,height:T}=ge;co=v,fo=
y,po=E,ho=T}function go(n,o,r,a,f,d,b){Gt=Ve._x=Ve._y=!1,ss(n,o,r,a,f,d,b,!1,!0);let{left:v,top:y,width:E,
height:T}=ge,L=E>0||T>0,U=co!=v||fo!=y||po!=E||ho!=T;if(L&&U&&gn(ge),Ve.setScale&&L&&U){let ie=v,se=E,
X=y,I=T;if(_.ori==1&&(ie=y,se=T,X=v,I=E),Re&&Ut(A,At(ie,A),At(ie+se,A)),$e)for(let R in k){let we=k[R];
R!=A&&we.from==null&&we.min!=pe&&Ut(R,At(X+I,R),At(X,R))}is()}else O.lock&&(O._lock=!O._lock,sl(o,!0,
n!=null));n!=null&&(ml(ds,xs),Zl(ds,l,me,ye,J,M,null))}function Dr(n,o,r,a,f,d,b){if(O._lock)return;
tl(n);let v=Gt;if(Gt){let y=!0,E=!0,T=10,L,U;_.ori==0?(L=Re,U=$e):(L=$e,U=Re),L&&U&&(y=me<=T||me>=J-
T,E=ye<=T||ye>=M-T),L&&y&&(me=me<Ml?0:J),U&&E&&(ye=ye<Ll?0:M),sl(null,!0,!0),Gt=!1}me=-10,ye=-10,ce.
fill(null),sl(null,!0,!0),v&&(Gt=v)}function wo(n,o,r,a,f,d,b){O._lock||(tl(n),Wn(),is(),n!=null&&Zl(
Po,l,me,ye,J,M,null))}function bo(){F.forEach(Pu),In(l.width,l.height,!0)}ul(_n,Rl,bo);let Dl={};Dl.
mousedown=mo,Dl.mousemove=uo,Dl.mouseup=go,Dl.dblclick=wo,Dl.setSeries=(n,o,r,a)=>{let f=Me.match[2];
r=f(l,o,r),r!=-1&&Lt(r,a,!0,!1)},Ue&&(Be(Mo,P,mo),Be(hs,P,uo),Be(Lo,P,n=>{tl(n),jl(!1)}),Be(Ao,P,Dr),
Be(Po,P,wo),Ms.add(l),l.syncRect=jl);let wn=l.hooks=e.hooks||{};function ze(n,o,r){Xn?Kl.push([n,o,r]):
n in wn&&wn[n].forEach(a=>{a.call(null,l,o,r)})}(e.plugins||[]).forEach(n=>{for(let o in n.hooks)wn[o]=
(wn[o]||[]).concat(n.hooks[o])});let xo=(n,o,r)=>r,Me=Le({key:null,setSeries:!1,filters:{pub:Io,sub:Io},
scales:[A,S[1]?S[1].scale:null],match:[Wo,Wo,xo],values:[null,null]},O.sync);Me.match.length==2&&Me.
match.push(xo),O.sync=Me;let vo=Me.key,rs=Hi(vo);function Zl(n,o,r,a,f,d,b){Me.filters.pub(n,o,r,a,f,
d,b)&&rs.pub(n,o,r,a,f,d,b)}rs.sub(l);function Nr(n,o,r,a,f,d,b){Me.filters.sub(n,o,r,a,f,d,b)&&Dl[n](
null,o,r,a,f,d,b)}l.pub=Nr;function Cr(){rs.unsub(l),Ms.delete(l),jt.clear(),Ss(_n,Rl,bo),m.remove(),
ae?.remove(),ze("destroy")}l.destroy=Cr;function as(){ze("init",e,t),qs(t||e.data,!1),z[A]?es(A,z[A]):
Wn(),cn=ge.show&&(ge.width>0||ge.height>0),el=ft=!0,In(e.width,e.height)}return S.forEach(Ks),F.forEach(
fr),s?s instanceof HTMLElement?(s.appendChild(m),as()):s(l,as):as(),l}Ie.assign=Le;Ie.fmtNum=Os;Ie.rangeNum=
En;Ie.rangeLog=Ln;Ie.rangeAsinh=Ns;Ie.orient=fl;Ie.pxRatio=re;Ie.join=ya;Ie.fmtDate=$s,Ie.tzDate=Na;
Ie.sync=Hi;{Ie.addGap=du,Ie.clipGaps=Dn;let e=Ie.paths={points:Ui};e.linear=Yi,e.stepped=wu,e.bars=bu,
e.spline=vu}var Du=[1,2,5,10,15,30].flatMap(e=>[e,60*e]).concat([1,2,3,6,12,24,48,168].map(e=>3600*e)).sort((e,t)=>e-
t),ji=150,Gs=e=>e[3]+e[4]+e[5]+e[6],Rn=e=>t=>Gs(t)>0?e(t)/Gs(t):0,$n=[{title:"Where the time goes",show:bn,
stacked:!0,lines:[{name:"computing",of:Rn(e=>e[3]),colour:"--computing",hatch:"none"},{name:"waiting\
 for the last",of:Rn(e=>e[4]),colour:"--waiting",hatch:"rising"},{name:"release",of:Rn(e=>e[5]),colour:"\
--release",hatch:"dots"},{name:"exchange",of:Rn(e=>e[6]),colour:"--exchange",hatch:"falling"}]},{title:"\
A superstep takes",show:Ge,lines:[{name:"in all",of:e=>Gs(e)/e[2],colour:"--first"},{name:"w, the sl\
owest process",of:e=>e[7]/e[2],colour:"--second",dash:[6,4]}]},{title:"A superstep moves",show:Kt,steps:Array.
from({length:50},(e,t)=>2**t),lines:[{name:"h, the process with most",of:e=>e[8]/e[2],colour:"--firs\
t"},{name:"sent by a process on average",of:(e,t)=>e[9]/e[2]/t,colour:"--second",dash:[6,4]}]}];function pl(e){
return getComputedStyle(document.documentElement).getPropertyValue(e).trim()}function Nu(e){let t=pl(
e.colour);if(e.hatch==="none")return t;let s=N("canvas",{width:"8",height:"8"}),l=s.getContext("2d");
if(l.fillStyle=t,l.fillRect(0,0,8,8),l.strokeStyle=l.fillStyle=pl("--ground"),l.lineWidth=1,e.hatch===
"dots")l.fillRect(3,3,2,2);else for(let i of[-8,0,8])l.moveTo(i,e.hatch==="rising"?8:0),l.lineTo(i+8,
e.hatch==="rising"?0:8);return l.stroke(),l.createPattern(s,"repeat")??t}function Zi(e,t,s){let l=[],
i=e.lines.map(()=>[]),u=(c,p)=>{l.push(c/1e3),i.forEach((h,m)=>h.push(p(m)))};return t.forEach((c,p)=>{
let h=t[p-1]?.[1]??c[0];c[0]>h&&u(h+1,()=>null);let m=0,x=e.lines.map(g=>(m=(e.stacked?m:0)+g.of(c,s),
m));u(c[0]+.5,g=>x[g]),u(c[1],g=>x[g])}),[l,...e.stacked?i.reverse():i]}function Cu(e,t){let s=e.ctx,
{left:l,top:i,width:u,height:c}=e.bbox,p=devicePixelRatio;s.save();for(let[h,m]of t){let x=Math.round(
e.valToPos(m/1e3,"x",!0));if(x<l||x>l+u)continue;let g=h==="recovery";s.strokeStyle=s.fillStyle=pl(g?
"--bad":"--text"),s.lineWidth=(g?2:1)*p,s.setLineDash(g?[]:[2*p,4*p]),s.beginPath(),s.moveTo(x,i),s.
lineTo(x,i+c),s.stroke(),s.font=`bold ${11*p}px sans-serif`,s.textAlign="center",s.fillText(g?"✕":
"▾",x,i-2*p)}s.restore()}var zn=class{box;readout=N("p",{class:"readout","aria-live":"polite"});holders;plots=[];stretches=[];marks=[];at=null;processes=1;constructor(){
this.holders=$n.map(t=>N("figure",{},N("figcaption",{},N("h3",{},t.title),this.legend(t)))),this.box=
N("section",{class:"charts",tabindex:"0",role:"group","aria-label":"Pictures of the job over time; t\
he arrow keys read them"},...this.holders,N("p",{class:"note"},"▾ checkpoint   ✕ recovery. Arrow key\
s, or a pointer, read the pictures."),this.readout),this.box.addEventListener("keydown",t=>this.onKey(
t)),new ResizeObserver(()=>this.resize()).observe(this.box),matchMedia("(prefers-color-scheme: dark)").
addEventListener("change",()=>this.draw())}clear(){this.stretches=[],this.marks=[],this.at=null,this.
update()}setProcesses(t){this.processes=Math.max(1,t)}add(t){this.stretches.splice(t.from,1/0,...t.stretches),
this.marks=t.marks,this.update()}legend(t){return N("ul",{class:"legend"},...t.lines.map(s=>N("li",{
class:`${s.hatch?`area ${s.hatch}`:s.dash?"dashed":"line"} `+s.colour.slice(2)},s.name)))}update(){this.
box.hidden=this.stretches.length===0,!this.box.hidden&&(this.plots.length===0?this.draw():this.plots.
forEach((t,s)=>t.setData(Zi($n[s],this.stretches,this.processes))),this.read())}draw(){if(!this.box.
hidden){for(let t of this.plots)t.destroy();this.plots=$n.map((t,s)=>this.plot(t,this.holders[s]))}}plot(t,s){
let l={stroke:pl("--text"),font:"11px sans-serif",grid:{stroke:pl("--line"),width:1},ticks:{stroke:pl(
"--line"),width:1}},i=t.stacked?[...t.lines].reverse():t.lines;return new Ie({width:s.clientWidth,height:ji,
legend:{show:!1},padding:[14,8,0,0],cursor:{sync:{key:"job"},drag:{x:!1,y:!1},points:{show:!1}},scales:{
y:{range:(u,c,p)=>[0,t.stacked?1:Math.max(p,1)*1.1]}},axes:[{...l,size:28,space:80,incrs:Du,values:(u,c)=>c.
map(p=>Ct(p*1e3))},{...l,size:64,space:24,values:(u,c)=>c.map(p=>t.show(p)),...t.steps?{incrs:t.steps}:
{}}],series:[{},...i.map(u=>({stroke:pl(u.colour),width:t.stacked?0:2,points:{show:!1},...u.dash?{dash:u.
dash}:{},...t.stacked?{fill:()=>Nu(u)}:{}}))],hooks:{draw:[u=>Cu(u,this.marks)],setCursor:[u=>this.onCursor(
u)]}},Zi(t,this.stretches,this.processes),s)}resize(){this.plots.forEach((t,s)=>{let l=this.holders[s].
clientWidth;l>0&&l!==t.width&&t.setSize({width:l,height:ji})})}onCursor(t){if(t!==this.plots[0])return;
let{left:s,idx:l}=t.cursor;if(s===void 0||s<0||l==null)this.at=null;else{let i=t.posToVal(s,"x")*1e3;
this.at=this.stretches.findIndex(u=>u[1]>=i)}this.read()}onKey(t){let s=this.stretches.length-1,l=this.
at??s+1,i={ArrowLeft:l-1,ArrowRight:l+1,Home:0,End:s}[t.key],u=this.plots[0];if(i===void 0||!u)return;
t.preventDefault();let c=this.stretches[Math.min(Math.max(i,0),s)],p=u.valToPos((c[0]+c[1])/2e3,"x");
u.setCursor({left:p,top:10})}read(){let t=this.at===null?this.stretches.at(-1):this.stretches[this.at];
if(!t)return;let s=$n.flatMap(l=>l.lines.map(i=>`${i.name} ${l.show(i.of(t,this.processes))}`));Se(this.
readout,`${Ct(t[0])} – ${Ct(t[1])}: ${st(t[2])} supersteps; ${s.join("; ")}`)}};var Ou=2e5,Ru={LATE_COMPUTING:"computes",LATE_ASLEEP:"waits for something else, not in bsp_sync",LATE_STOPPED:"\
is stopped",LATE_DEAD:"is dead"},$u=["LATE_STOPPED","LATE_DEAD","LATE_COUNTING"];function zu(e){if(e.
lateness==="LATE_COUNTING")return`waits for ${B(e.messagesExpected)} messages in superstep ${st(B(e.
superstep))}, has ${B(e.messagesHere)}`;let t=Ru[e.lateness??""]??"is late";return e.begun?t:`${t}, \
before bsp_begin`}function Hu(e){let t=e.flatMap(s=>s.late??[]);return t.some(s=>$u.includes(s.lateness??
""))||t.length>0&&e.some(s=>(s.arrived??0)>0)}function Fu(e){return Hu(e)?e.filter(t=>(t.lateCount??
0)>0).map(t=>{let s=(t.late??[]).map(i=>`pid ${i.pid??0} ${zu(i)}`),l=(t.lateCount??0)-s.length;return`${ke(
t.node)||"this machine"}: ${s.join(", ")}${l>0?` and ${l} more`:""}; for ${Ge(B(t.forMs)*1e6)}`}):[]}
function Vu(e){let t=e.fromStart?"from the start":`from superstep ${B(e.fromSuperstep)}`,s=e.resumed?
`; resumed ${t} after ${Ge(B(e.afterMs)*1e6)}`:"; not resumed yet";return`${Ct(B(e.unixMs))} ${ke(e.
reason)}${s}`}function Iu(e){let t=ke(e.reason),s=ke(e.filesLost);return t.includes(s)?t:`${t}${t?";\
 ":""}files that it left are lost: ${s}`}function Qi(e,t,s){return e===void 0?"–":t===void 0?s(e):
`${s(e)} ± ${s(t)}`}function Wu(e){let t=B(e.groupSupersteps);return t===0?[]:[["supersteps in grou\
ps, by member",st(t)],["of computing, in their barriers",Ge(B(e.groupSyncNs))],["sent in groups",Kt(
B(e.groupBytesOut))],["messages in groups",st(B(e.groupMessages))]]}function Gu(e){let t=B(e.totalNs),
s=c=>t>0?`${Ge(c)} (${bn(c/t)})`:Ge(c),l=B(e.predictedNs),i=B(e.unmeasured),u=c=>`${Number(c.toPrecision(
3))} ns/byte`;return[["supersteps",st(B(e.supersteps))+(i>0?`, of ${st(i)} nothing else is known`:"")],
["time in them",Ge(t)],["predicted, w + h·g + l",l>0?s(l):"–"],["computing",s(B(e.computeNs))],["\
waiting for the last",s(Math.max(0,B(e.waitNs)-B(e.releaseNs)))],["release",s(B(e.releaseNs))],["exc\
hange",s(B(e.exchangeNs))],["w, the slowest",s(B(e.wNs))],["h, summed",Kt(B(e.hBytes))],["g",Qi(e.fit?.
gNsPerByte,e.fit?.gErrorNsPerByte,u)],["l",Qi(e.fit?.lNs,e.fit?.lErrorNs,Ge)],["imbalance",e.imbalance?
e.imbalance.toFixed(2):"–"],["sent",Kt(B(e.bytesOut))],["messages",st(B(e.messages))],...Wu(e)]}function Uu(e){
let t=[["user",ke(e.spec?.user)],["processes",String(e.spec?.nprocs??0)],["ran",Ge(B(e.runMs)*1e6)],
["submitted",Ct(B(e.submittedUnixMs))],["started",Ct(B(e.startedUnixMs))],["ended",Ct(B(e.endedUnixMs))],
["restarts",String(e.restarts??0)]];return e.endedUnixMs&&t.push(["exit status",String(e.exitStatus??
0)]),e.spec?.arguments&&t.push(["command",e.spec.arguments.map(s=>ke(s)).join(" ")]),e.spec?.files&&
t.push(["files",e.spec.files.map(s=>ke(s.name)).join(", ")]),t}function Bu(e){let t=e.checkpoints??{},
s=[];return B(t.committed)>0&&s.push(`The last is of superstep ${st(B(t.superstep))}, committed at ${Ct(
B(t.committedUnixMs))}: ${Kt(B(t.imageBytes))} on ${(t.holders??[]).map(l=>ke(l)).join(", ")}, a pau\
se of ${Ge(B(t.pauseNs))}. ${B(t.count)} in all.`),t.underWay&&s.push("One is under way."),B(t.givenUp)>
0&&s.push(`${B(t.givenUp)} given up; the last: ${ke(t.lastFailure)}`),s}var Hn=class{box;title=N("h2",
{tabindex:"-1"});state=N("span",{class:"state"});reason=N("p",{class:"note"});about=new Ql;costs=new Ql;charts=new zn;waits=new Nl(
"The barrier waits for","warning");losses=new Nl("Recoveries","losses");checkpoints=new Nl("Checkpoi\
nts","checkpoints");stragglers=new Nt("Last to arrive",["pid","node","supersteps","cost"],"Nobody st\
ands out.");places=new Nt("Where it runs",["node","pids"],"Nowhere.");output=N("pre",{tabindex:"0","\
aria-label":"Output"});outputNote=N("p",{class:"note"});details;constructor(){let t=(s,...l)=>N("sec\
tion",{},N("h3",{},s),...l);this.details=N("div",{},this.waits.box,this.about.box,this.charts.box,t(
"What it costs",this.costs.box),this.losses.box,this.checkpoints.box,N("div",{class:"pair"},this.stragglers.
box,this.places.box),t("Output",this.outputNote,this.output)),this.box=N("main",{},N("p",{class:"bac\
k"},N("a",{href:"#"},"← All jobs (Esc)")),N("header",{},this.title,this.state),this.reason,this.details)}begin(t){
Se(this.title,`Job ${t}`),Se(this.state,""),Se(this.reason,""),this.details.hidden=!0,this.output.replaceChildren(),
Se(this.outputNote,"Nothing was printed yet."),this.charts.clear(),this.title.focus()}show(t){if("er\
ror"in t){Se(this.reason,t.error);return}this.details.hidden=!1,Se(this.title,`Job ${t.job??0}: ${fs(
t)}`),Se(this.state,Xl(t.state)),this.state.dataset.state=t.state??"",Se(this.reason,Iu(t)),this.waits.
show(Fu(t.barrierWaits??[])),this.charts.setProcesses(t.totals?.processes??t.spec?.nprocs??1),this.about.
show(Uu(t)),this.costs.show(Gu(t.totals??{})),this.losses.show([...t.losses??[]].reverse().map(Vu)),
this.checkpoints.show(Bu(t)),this.stragglers.show((t.totals?.stragglers??[]).map(s=>({key:`${s.pid??
0}`,cells:[`${s.pid??0}`,ke(s.node)||"this machine",st(B(s.supersteps)),Ge(B(s.costNs))]}))),this.places.
show((t.placement??[]).map(s=>({key:ke(s.node),cells:[ke(s.node),ko(s.pids??[])]})))}addSeries(t){this.
charts.add(t)}addOutput(t){if(t.error)return Se(this.outputNote,t.error);let s=this.output.scrollTop+
this.output.clientHeight>=this.output.scrollHeight-40;t.left_out&&this.output.append(N("i",{},`… ${Kt(
t.left_out)} left out …
`));for(let i of t.lines??[]){let u=i.ofLauncher?"bspnow":`${i.pid??0}`,c=i.stream==="STDERR"&&!i.ofLauncher,
h=ke(i.text).replace(/\n$/,"").split(`
`).map(m=>`${u}${c?"!":":"} ${m}
`);this.output.append(N("span",{class:i.ofLauncher?"launcher":c?"stderr":"stdout"},h.join("")))}let l=this.
output.textContent?.length??0;for(;l>Ou&&this.output.children.length>1;)l-=this.output.firstChild.textContent.
length,this.output.firstChild.remove();Se(this.outputNote,"The end of it, as PID: line, and PID! for\
 standard error; `bsp logs` gives all."),s&&(this.output.scrollTop=this.output.scrollHeight)}};var er=N("span"),Us=N("span",{role:"status"},"◌ waiting for the coordinator"),tr=N("span",{class:"\
summary"}),Fn=new xn,Vt=new Hn,lr=N("p",{class:"nobody"},"Choose a job: arrow keys and Enter, or a c\
lick."),Xi,at="";function Gl(e,t,s){e.addEventListener(t,l=>s(JSON.parse(l.data)))}function Yu(e){let t=e.
filter(l=>l.state==="NODE_UP"),s=l=>t.reduce((i,u)=>i+l(u),0);Se(tr,`${t.length} of ${e.length} node\
s up, ${s(l=>l.slotsUsed??0)} of ${s(l=>l.spec?.slots??0)} slots in use`)}function Ku(){Xi?.close();
let e=new EventSource(at===""?"/events":`/events?job=${at}`);Xi=e,Gl(e,"about",t=>{Se(er,`${t.user}${t.
administrator?", administrator":""}`),Se(Us,"● live")}),Gl(e,"nodes",({nodes:t})=>{Fn.showNodes(t??
[]),Yu(t??[])}),Gl(e,"jobs",t=>Fn.showJobs(t)),Gl(e,"job",Vt.show.bind(Vt)),Gl(e,"series",Vt.addSeries.
bind(Vt)),Gl(e,"output",Vt.addOutput.bind(Vt)),e.onopen=()=>{at!==""&&Vt.begin(at)},e.onerror=()=>Se(
Us,e.readyState===EventSource.CLOSED?"✕ the session is over, or too many pages are open: `bsp web` o\
pens another":"◌ waiting for the coordinator")}function nr(){let e=at;at=/^#job=(\d+)$/.exec(location.
hash)?.[1]??"",document.body.dataset.view=at===""?"cluster":"job",Vt.box.hidden=at==="",lr.hidden=at!==
"",document.title=at===""?"bspnow":`bspnow: job ${at}`,Ku(),at===""&&e!==""&&Fn.focus(e)}document.body.
append(N("header",{class:"top"},N("h1",{},"bspnow"),tr,er,Us),N("div",{class:"columns"},Fn.box,Vt.box,
lr));addEventListener("hashchange",nr);addEventListener("keydown",e=>{e.key==="Escape"&&at!==""&&(location.
hash="")});nr();})();
